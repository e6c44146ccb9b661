//! A small HTTP server whose every byte a test decides.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A connection, with or without TLS.
pub(super) trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

/// A request as it came; names of headers are in lower case.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// Its number, from 0.
    pub(super) number: usize,
    pub(super) path: String,
    pub(super) headers: HashMap<String, String>,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// One request for each connection, each on a thread of its own.
pub(super) struct Server {
    address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(answer: impl Fn(&Seen, &mut dyn Wire) + Send + Sync + 'static) -> Self {
        Server::with_tls(None, answer)
    }

    pub(super) fn with_tls(
        tls: Option<Arc<rustls::ServerConfig>>,
        answer: impl Fn(&Seen, &mut dyn Wire) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let answer = Arc::new(answer);
        let accepts = std::thread::spawn({
            let (seen, stop) = (seen.clone(), stop.clone());
            move || {
                for stream in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let (seen, answer, tls, stream) = (seen.clone(), answer.clone(), tls.clone(), stream.unwrap());
                    std::thread::spawn(move || serve(stream, tls, &seen, &*answer));
                }
            }
        });
        Server { address, scheme, seen, stop, accepts: Some(accepts) }
    }

    /// Always the same file.
    pub(super) fn of_bytes(bytes: Vec<u8>) -> Self {
        Server::start(move |_, wire| respond(wire, 200, &[], &bytes))
    }

    /// Always the same status, without a body.
    pub(super) fn of_status(status: u16) -> Self {
        Server::start(move |_, wire| respond(wire, status, &[], b""))
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    pub(super) fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts; if that fails the thread is gone already.
        let _ = TcpStream::connect(self.address);
        self.accepts.take().unwrap().join().unwrap();
    }
}

/// A whole answer.
pub(super) fn respond(wire: &mut dyn Wire, status: u16, headers: &[(&str, &str)], body: &[u8]) {
    let len = body.len().to_string();
    let mut all = vec![("content-length", len.as_str())];
    all.extend(headers);
    head(wire, status, &all);
    // A client that has heard enough may be gone.
    let _ = wire.write_all(body).and_then(|()| wire.flush());
}

/// The head of an answer alone.
pub(super) fn head(wire: &mut dyn Wire, status: u16, headers: &[(&str, &str)]) {
    let mut text = format!("HTTP/1.1 {status} Because\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let _ = wire.write_all(text.as_bytes()).and_then(|()| wire.flush());
}

/// Says nothing until the client gives up.
pub(super) fn stall(wire: &mut dyn Wire) {
    let mut byte = [0];
    while wire.read(&mut byte).is_ok_and(|n| n > 0) {}
}

fn serve(
    mut stream: TcpStream,
    tls: Option<Arc<rustls::ServerConfig>>,
    seen: &Mutex<Vec<Seen>>,
    answer: &dyn Fn(&Seen, &mut dyn Wire),
) {
    match tls {
        None => talk(&mut stream, seen, answer),
        Some(config) => {
            let connection = rustls::ServerConnection::new(config).unwrap();
            let mut wire = rustls::StreamOwned::new(connection, stream);
            talk(&mut wire, seen, answer);
            wire.conn.send_close_notify();
            let _ = wire.flush();
        }
    }
}

fn talk(wire: &mut dyn Wire, seen: &Mutex<Vec<Seen>>, answer: &dyn Fn(&Seen, &mut dyn Wire)) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match wire.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            // A client that does not like the certificate says nothing.
            _ => return,
        }
    }
    let text = String::from_utf8(head).unwrap();
    let mut lines = text.lines();
    let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_string();
    let header = |line: &str| line.split_once(':').map(|(n, v)| (n.to_lowercase(), v.trim().to_string()));
    let request = {
        let mut seen = seen.lock().unwrap();
        let request = Seen { number: seen.len(), path, headers: lines.filter_map(header).collect() };
        seen.push(request.clone());
        request
    };
    answer(&request, wire);
}
