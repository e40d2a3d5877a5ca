//! Certificates for a server that speaks TLS on this machine: an authority made for this one start,
//! and a certificate for the loopback addresses that it signs. Nothing else is ever signed: the
//! authority's key is thrown away.

use crate::private_file::write;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use roundtrip_model::{Kind, Problem, Result};
use std::path::Path;

/// The file of the authority's certificate, which clients trust.
pub const CA: &str = "ca.pem";
/// The file of the server's certificate.
pub const CERTIFICATE: &str = "server.pem";
/// The file of the server's key.
pub const KEY: &str = "server.key";

/// The names and addresses that a client on this machine may reach the server by.
const NAMES: [&str; 3] = ["127.0.0.1", "::1", "localhost"];

/// Makes both certificates and the server's key in a directory, for the user that the server runs
/// as.
pub fn make(dir: &Path, uid: Option<u32>) -> Result<()> {
    let pems = sign().map_err(|e| problem(&e.to_string()))?;
    for (name, pem) in [CA, CERTIFICATE, KEY].iter().zip(pems) {
        write(&dir.join(name), &pem, uid).map_err(|e| problem(&e.to_string()))?;
    }
    Ok(())
}

fn problem(why: &str) -> Problem {
    Problem::new(
        Kind::Failed,
        format!("a certificate for TLS cannot be made: {why}"),
    )
    .next("look whether the disk is full, or use transport=tcp")
}

fn sign() -> std::result::Result<[String; 3], rcgen::Error> {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.distinguished_name.push(
        DnType::CommonName,
        "Roundtrip, for one server on this machine",
    );
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let names = NAMES.map(str::to_owned).to_vec();
    let certificate = CertificateParams::new(names)?.signed_by(&key, &authority)?;
    Ok([authority.pem(), certificate.pem(), key.serialize_pem()])
}
