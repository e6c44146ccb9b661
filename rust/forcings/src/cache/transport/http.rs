//! `http://` and `https://`: conditional requests, redirects, and attempts that go on where the last one broke off.

use super::body::{self, Trouble, Version};
use super::redirect::Hop;
use super::{Ask, Failure, Reply, Transport};
use crate::cache::options::HttpOptions;
use crate::cache::staging::Staging;
use crate::Error;
use std::path::Path;
use std::time::Duration;
use ureq::http::{header, HeaderValue, Response};
use ureq::tls::{parse_pem, Certificate, PemItem, RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// The longest head of an answer that is read.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The longest pause between attempts.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// A broken download has moved on if it got this much further than ever before; its attempts are then counted anew.
const PROGRESS: u64 = 1 << 20;

/// HTTP servers. Connections are kept and shared by all threads.
pub(super) struct Http {
    agent: Agent,
    options: HttpOptions,
}

impl Http {
    /// # Errors
    /// `Io` and `Format` for a file of certificate authorities that cannot be used.
    pub(super) fn new(options: &HttpOptions) -> crate::Result<Self> {
        let roots = match &options.ca_file {
            Some(path) => RootCerts::from(certificates(path)?),
            None => RootCerts::WebPki,
        };
        let config = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .http_status_as_error(false)
            // Redirects are followed here: the agent would carry a realm's header to any host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(options.connect_timeout))
            .timeout_connect(Some(options.connect_timeout))
            .timeout_per_read(Some(options.read_timeout))
            .timeout_per_write(Some(options.read_timeout))
            .max_response_header_size(MAX_HEADER_BYTES)
            .user_agent(concat!("forcings/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity")
            .build();
        Ok(Http { agent: config.into(), options: options.clone() })
    }

    /// One request, its redirects followed.
    fn request(&self, ask: &Ask<'_>, headers: &[(header::HeaderName, &str)]) -> Result<Response<Body>, Trouble> {
        let unusable = |text: String| Trouble::Final(Failure::Unknown(text));
        let mut hop = Hop::parse(ask.url.as_str()).map_err(unusable)?;
        for _ in 0..=self.options.max_redirects {
            let response = self.send(&hop, ask, headers)?;
            let Some(location) = location(&response) else { return Ok(response) };
            hop = hop.follow(&location).map_err(unusable)?;
        }
        Err(unusable(format!("more than {} redirects", self.options.max_redirects)))
    }

    fn send(
        &self,
        hop: &Hop,
        ask: &Ask<'_>,
        headers: &[(header::HeaderName, &str)],
    ) -> Result<Response<Body>, Trouble> {
        let mut request = self.agent.get(hop.url());
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        if let Some(credential) = ask.credential.filter(|credential| hop.may_have(credential)) {
            let value = HeaderValue::from_str(credential.reveal()).map(|mut value| {
                value.set_sensitive(true);
                value
            });
            request =
                request.header(credential.header_name(), value.expect("a credential was checked when it was made"));
        }
        let sent = if hop.is_local() { request.config().proxy(None).build().call() } else { request.call() };
        sent.map_err(|e| match describe(&e) {
            (text, true) => Trouble::Again(text, None),
            (text, false) => Trouble::Final(Failure::Unknown(text)),
        })
    }

    fn attempt(&self, ask: &Ask<'_>, staging: &mut Staging, version: &mut Version) -> Result<Reply, Trouble> {
        let have = staging.len();
        let resume = version.condition().filter(|_| have > 0).map(|condition| (condition, format!("bytes={have}-")));
        let mut headers = Vec::new();
        match &resume {
            Some((condition, range)) => {
                headers.extend([(header::RANGE, range.as_str()), (header::IF_RANGE, *condition)]);
            }
            None => {
                headers.extend(ask.validators.etag.as_deref().map(|etag| (header::IF_NONE_MATCH, etag)));
                headers.extend(ask.validators.last_modified.as_deref().map(|date| (header::IF_MODIFIED_SINCE, date)));
            }
        }
        let (is_resumed, is_conditional) = (resume.is_some(), resume.is_none() && !headers.is_empty());
        let (head, body) = self.request(ask, &headers)?.into_parts();
        let (status, headers) = (head.status.as_u16(), &head.headers);
        match status {
            200 => {
                staging.restart()?;
                *version = Version::of(headers);
            }
            206 if is_resumed => {
                if !version.is_continued_by(headers, have) {
                    return Err(start_again(staging, "the file changed between two attempts"));
                }
            }
            304 if is_conditional => return Ok(Reply::NotModified(body::validators(headers))),
            404 | 410 => {
                return Err(Trouble::Final(Failure::Absent(format!("the server has no such file ({status})"))))
            }
            416 if is_resumed => return Err(start_again(staging, "the server cannot go on where it broke off (416)")),
            408 | 425 | 429 | 500 | 502..=504 => {
                let text = format!("the server is not able to answer now ({status})");
                return Err(Trouble::Again(text, body::retry_after(headers)));
            }
            401 | 403 => return Err(Trouble::Final(Failure::Unknown(refused(status, ask)))),
            _ => return Err(Trouble::Final(Failure::Unknown(format!("the server answered with status {status}")))),
        }
        if let Some(coding) = body::coding(headers) {
            let text = format!("the server sends the file encoded as \"{coding}\", which was not asked for");
            return Err(Trouble::Final(Failure::Unknown(text)));
        }
        if !body::has_end(headers) && !ask.has_checksum {
            let text = "the server does not say how long the file is, so that a broken connection would look like its \
                        end; give its checksum";
            return Err(Trouble::Final(Failure::Unknown(text.into())));
        }
        body::receive(body, headers, staging)?;
        if !version.may_end_at(staging.len()) {
            return Err(start_again(staging, "the part that was asked for is not the rest of the file"));
        }
        Ok(Reply::Body(version.validators.clone()))
    }

    /// The pause before the next attempt, after so many in a row that failed.
    fn pause(&self, failures: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.options.backoff.saturating_mul(1 << (failures - 1).min(16));
        doubled.max(asked.unwrap_or_default()).min(MAX_PAUSE)
    }
}

impl Transport for Http {
    fn download(&self, ask: &Ask<'_>, staging: &mut Staging) -> Result<Reply, Failure> {
        if let Some(credential) = ask.credential {
            check_realm(ask, credential)?;
        }
        let (mut version, mut furthest, mut failures) = (Version::default(), 0, 0);
        loop {
            let (text, wait) = match self.attempt(ask, staging, &mut version) {
                Ok(reply) => return Ok(reply),
                Err(Trouble::Final(failure)) => return Err(failure),
                Err(Trouble::Again(text, wait)) => (text, wait),
            };
            // Counted from the furthest point, so that a download which always starts again has an end.
            if staging.len() >= furthest + PROGRESS {
                failures = 0;
            }
            furthest = furthest.max(staging.len());
            failures += 1;
            if failures >= self.options.attempts.max(1) {
                return Err(Failure::Unknown(format!("{text} (attempt {failures} without progress)")));
            }
            std::thread::sleep(self.pause(failures, wait));
        }
    }
}

/// What went wrong on the way, and whether another attempt may go better. The texts hold no address and no header.
pub(super) fn describe(error: &ureq::Error) -> (String, bool) {
    use ureq::Error as E;
    match error {
        E::Timeout(phase) => (format!("the server was silent for too long ({phase})"), true),
        // A certificate that does not hold comes as invalid data.
        E::Io(e) => (e.to_string(), e.kind() != std::io::ErrorKind::InvalidData),
        E::HostNotFound => ("there is no such host".into(), false),
        E::ConnectionFailed => ("no connection".into(), true),
        E::Rustls(e) => (format!("TLS: {e}"), false),
        E::Tls(text) => (format!("TLS: {text}"), false),
        E::Protocol(e) => (format!("this is not the HTTP that was expected: {e}"), true),
        E::BodyStalled => ("the server stopped sending".into(), true),
        E::LargeResponseHeader(..) => {
            (format!("the head of the answer is longer than {MAX_HEADER_BYTES} bytes"), false)
        }
        E::InvalidProxyUrl | E::ConnectProxyFailed(_) => ("the proxy of the environment does not work".into(), false),
        E::Http(_) | E::BadUri(_) => ("this is not an address that a request can have".into(), false),
        _ => ("the request failed".into(), false),
    }
}

fn location(response: &Response<Body>) -> Option<String> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(header::LOCATION).filter(|_| is_redirect)?;
    location.to_str().ok().map(str::to_string)
}

fn start_again(staging: &mut Staging, text: &str) -> Trouble {
    match staging.restart() {
        Ok(()) => Trouble::Again(text.into(), None),
        Err(e) => e.into(),
    }
}

fn refused(status: u16, ask: &Ask<'_>) -> String {
    match ask.credential {
        Some(credential) => {
            format!("the server refuses access ({status}) with the credential of realm \"{}\"", credential.realm())
        }
        None => format!("the server refuses access ({status}); a request can name the realm of a credential"),
    }
}

/// # Errors
/// `InvalidParameter` when the credential would not be sent: another host, or no TLS.
fn check_realm(ask: &Ask<'_>, credential: &super::Credential) -> crate::Result<()> {
    let Ok(hop) = Hop::parse(ask.url.as_str()) else { return Ok(()) };
    let (realm, host) = (credential.realm(), hop.host());
    if !credential.covers(&host) {
        let hosts = credential.hosts();
        return Err(Error::invalid(format!("the credential of realm \"{realm}\" is for {hosts}, not for {host}")));
    }
    if !hop.may_have(credential) {
        return Err(Error::invalid(format!("the credential of realm \"{realm}\" is sent over https only, not http")));
    }
    Ok(())
}

fn certificates(path: &Path) -> crate::Result<Vec<Certificate<'static>>> {
    let text = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(Error::format(path, "this is no file of certificates in PEM")),
        }
    }
    if found.is_empty() {
        return Err(Error::format(path, "there is no certificate in PEM in it"));
    }
    Ok(found)
}
