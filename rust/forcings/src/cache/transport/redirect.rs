//! The addresses of one request and where redirects lead, with the rules that a redirect may not break.

use crate::cache::credentials::Credential;
use crate::cache::url::{authority, host, split_scheme};
use std::net::IpAddr;

/// An address that a request goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hop {
    secure: bool,
    authority: String,
    /// Path and query.
    target: String,
}

impl Hop {
    /// Reads an `http` or `https` URL; the fragment is dropped.
    ///
    /// # Errors
    /// A text that says what is wrong, without the address.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = split_scheme(url).ok_or("the address has no scheme")?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            other => return Err(format!("the scheme \"{other}\" is neither http nor https")),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let authority = authority(rest).to_ascii_lowercase();
        if authority.contains('@') {
            return Err("the address holds a user name or password".into());
        }
        if host(&authority).is_empty() {
            return Err("the address has no host".into());
        }
        let target = match &rest[authority.len()..] {
            path if path.starts_with('/') => path.to_string(),
            other => format!("/{other}"),
        };
        Ok(Hop { secure, authority, target })
    }

    pub(super) fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.target)
    }

    pub(super) fn host(&self) -> String {
        host(&self.authority)
    }

    /// The address that a `Location` header leads to.
    ///
    /// # Errors
    /// A text when it cannot be followed: it is no address, or it leads from https to http, where anyone on the way could
    /// read the request and change the file.
    pub(super) fn follow(&self, location: &str) -> Result<Hop, String> {
        let location = location.trim();
        let next = if split_scheme(location).is_some() {
            Hop::parse(location)?
        } else if let Some(rest) = location.strip_prefix("//") {
            Hop::parse(&format!("{}://{rest}", if self.secure { "https" } else { "http" }))?
        } else {
            Hop { target: self.relative(location), ..self.clone() }
        };
        if self.secure && !next.secure {
            return Err("a redirect leads from https to http".into());
        }
        Ok(next)
    }

    /// Whether the address gets the credential: one of its hosts, over TLS or on this machine.
    pub(super) fn may_have(&self, credential: &Credential) -> bool {
        credential.covers(&self.host()) && (self.secure || self.is_local())
    }

    /// Whether it is on this machine.
    pub(super) fn is_local(&self) -> bool {
        let host = self.host();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|ip| ip.is_loopback())
    }

    fn relative(&self, location: &str) -> String {
        let location = location.split('#').next().unwrap_or_default();
        let path = self.target.split('?').next().unwrap_or_default();
        match location.chars().next() {
            None => self.target.clone(),
            Some('/') => location.into(),
            Some('?') => format!("{path}{location}"),
            Some(_) => without_dots(&format!("{}{location}", &path[..=path.rfind('/').unwrap_or(0)])),
        }
    }
}

/// The path without `.` and `..` segments; the query stays.
fn without_dots(target: &str) -> String {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (i, segment) in segments.iter().enumerate() {
        let last = i + 1 == segments.len();
        match *segment {
            "." | ".." => {
                if *segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_resolved_like_links() {
        let hop = Hop::parse("HTTPS://Data.Example.org:8443/a/b/c.nc?x=1#frag").unwrap();
        assert_eq!(hop.url(), "https://data.example.org:8443/a/b/c.nc?x=1");
        assert_eq!(hop.host(), "data.example.org");
        for (location, expected) in [
            ("https://other.org/q", "https://other.org/q"),
            ("//other.org", "https://other.org/"),
            ("/top?y=2", "https://data.example.org:8443/top?y=2"),
            ("d.nc", "https://data.example.org:8443/a/b/d.nc"),
            ("../d.nc?u=../..", "https://data.example.org:8443/a/d.nc?u=../.."),
            ("../../../../d/./e", "https://data.example.org:8443/d/e"),
            ("..", "https://data.example.org:8443/a/"),
            ("?z=3", "https://data.example.org:8443/a/b/c.nc?z=3"),
            (" /blank#f ", "https://data.example.org:8443/blank"),
            ("", "https://data.example.org:8443/a/b/c.nc?x=1"),
            ("https://other.org?q=1", "https://other.org/?q=1"),
        ] {
            assert_eq!(hop.follow(location).unwrap().url(), expected, "{location}");
        }
    }

    #[test]
    fn a_redirect_leaves_neither_http_nor_tls() {
        let hop = Hop::parse("https://a.org/x").unwrap();
        for location in ["http://a.org/x", "file:///etc/passwd", "ftp://a.org/x", "https://u:p@a.org/", "https:///x"] {
            let text = hop.follow(location).unwrap_err();
            assert!(!text.contains("passwd") && !text.contains("u:p"), "{text}");
        }
        let plain = Hop::parse("http://a.org/x").unwrap();
        assert_eq!(plain.follow("https://a.org/y").unwrap().url(), "https://a.org/y");
    }

    #[test]
    fn a_credential_goes_to_its_own_hosts_over_tls() {
        let credential = Credential::bearer("r", "t", &["a.org", "127.0.0.1", "[::1]"]).unwrap();
        for (url, expected) in [
            ("https://a.org/x", true),
            ("https://A.org:444/x", true),
            ("http://a.org/x", false),
            ("https://b.a.org/x", false),
            ("https://a.org.evil/x", false),
            ("http://127.0.0.1:80/x", true),
            ("http://[::1]:80/x", true),
            ("https://b.org/a.org", false),
        ] {
            assert_eq!(Hop::parse(url).unwrap().may_have(&credential), expected, "{url}");
        }
    }
}
