//! Certificates for a server of a test.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

/// A server's certificate, and that of who signed it, in files.
pub struct Certified {
    directory: TempDir,
}

impl Certified {
    /// For `localhost`, under either of its names.
    pub fn new() -> Certified {
        let made = Certified {
            directory: tempfile::tempdir().unwrap(),
        };
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Under one name with the server's it would pass for a certificate that signs itself.
        ca.distinguished_name
            .push(DnType::CommonName, "an authority");
        let (ca_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let signed = ca.self_signed(&ca_key).unwrap();
        std::fs::write(made.file("ca"), signed.pem()).unwrap();
        let names = ["localhost", "127.0.0.1"].map(str::to_owned).to_vec();
        let server = CertificateParams::new(names).unwrap();
        let server = server.signed_by(&key, &Issuer::new(ca, ca_key)).unwrap();
        std::fs::write(made.file("cert"), server.pem()).unwrap();
        std::fs::write(made.file("key"), key.serialize_pem()).unwrap();
        made
    }

    /// The path of `ca`, `cert` or `key`.
    pub fn file(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// The path of one of them, for a server that runs as another user.
    #[allow(dead_code)]
    pub fn readable(&self, name: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode;
        std::fs::set_permissions(self.directory.path(), open(0o755)).unwrap();
        std::fs::set_permissions(self.file(name), open(0o644)).unwrap();
        self.file(name)
    }

    /// What has a MariaDB speak TLS to who asks for it.
    #[allow(dead_code)]
    pub fn mariadb_arguments(&self) -> [String; 3] {
        ["cert", "key", "ca"].map(|name| format!("--ssl-{name}={}", self.readable(name)))
    }

    /// What has a Redis speak nothing but TLS; the port goes behind it.
    #[allow(dead_code)]
    pub fn redis_arguments(&self) -> Vec<String> {
        let mut arguments: Vec<String> = ["--port", "0", "--tls-auth-clients", "no"]
            .map(str::to_owned)
            .to_vec();
        for (option, name) in [
            ("--tls-ca-cert-file", "ca"),
            ("--tls-cert-file", "cert"),
            ("--tls-key-file", "key"),
        ] {
            arguments.extend([option.to_owned(), self.file(name)]);
        }
        arguments.push("--tls-port".to_owned());
        arguments
    }
}
