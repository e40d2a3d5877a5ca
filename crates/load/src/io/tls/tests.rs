//! Against a real Redis that speaks TLS, with certificates made here.

use super::{Tls, Trust};
use crate::io::Uring;
use crate::io::trial::{self, Certified, Server};

/// Tries something over each transport that there is, under TLS.
macro_rules! over_each {
    ($connections:expr, $tries:path) => {{
        let certified = Certified::new();
        let start = || Server::redis_over_tls(&certified);
        let trust = || Trust::new("127.0.0.1", [certified.file("ca").as_str()]).unwrap();
        $tries(
            &mut Tls::new(crate::io::Epoll::new().unwrap(), trust()),
            &start,
        );
        if $connections == 1 {
            $tries(&mut Tls::new(crate::io::Blocking::new(), trust()), &start);
        }
        if let Ok(ring) = Uring::new($connections) {
            $tries(&mut Tls::new(ring, trust()), &start);
        }
    }};
}

#[test]
fn it_carries_many_connections() {
    over_each!(100, trial::carries_many);
}

#[test]
fn it_carries_what_no_record_holds() {
    over_each!(4, trial::carries_large);
}

#[test]
fn a_server_that_dies_is_told_once_a_connection() {
    over_each!(20, trial::tells_of_loss);
}

#[test]
fn what_came_of_a_session_that_was_replaced_is_nobodys() {
    over_each!(1, trial::forgets_what_was_replaced);
}

#[test]
fn it_goes_from_thread_to_thread() {
    over_each!(5, trial::goes_from_thread_to_thread);
}

#[test]
fn a_reply_that_is_not_understood_ends_its_connection() {
    over_each!(1, trial::gives_up_what_is_not_understood);
}

/// What a handshake comes to.
fn greeting(server: &Server, host: &str, ca: &str) -> Result<(), String> {
    let trust = Trust::new(host, [ca])?;
    let greeted = trust.greet(&server.connect());
    greeted.map(drop).map_err(|e| e.to_string())
}

#[test]
fn only_who_is_trusted_under_the_name_asked_for_is_greeted() {
    let (certified, other) = (Certified::new(), Certified::new());
    let server = Server::redis_over_tls(&certified);
    let (ca, wrong) = (certified.file("ca"), other.file("ca"));
    for host in ["127.0.0.1", "localhost"] {
        assert_eq!(greeting(&server, host, &ca), Ok(()));
        let refused = greeting(&server, host, &wrong).unwrap_err();
        assert!(refused.contains("certificate"), "{refused}");
    }
    let refused = greeting(&server, "example.org", &ca).unwrap_err();
    assert!(refused.contains("not valid for name"), "{refused}");
}

#[test]
fn a_server_that_speaks_no_tls_and_a_file_that_is_no_certificate_are_told() {
    let certified = Certified::new();
    let plain = Server::redis();
    assert!(greeting(&plain, "localhost", &certified.file("ca")).is_err());
    let key = certified.file("key");
    let told = |host, file: &str| Trust::new(host, [file]).unwrap_err();
    assert!(told("localhost", &key).ends_with("it holds no certificate"));
    assert!(told("localhost", "/nowhere").starts_with("/nowhere: "));
    assert!(told("not a name", &key).starts_with("not a name: "));
}
