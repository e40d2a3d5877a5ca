//! Who may log in to a server that Roundtrip starts: accounts with random passwords, made anew for
//! each start. A password is in no argument and no log; it is in a file for the server alone until
//! that is ready.

use crate::manifest::Accounts;
use crate::private_file;
use roundtrip_model::contract::Login;
use roundtrip_model::{Kind, Problem, Result, Secret};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const PASSWORD_BYTES: usize = 24;

/// The accounts of one start.
pub struct Logins {
    /// Who clients are.
    pub client: Login,
    /// Who the probe is.
    pub probe: Login,
    sql: Secret,
}

impl Logins {
    /// Accounts with passwords that nobody has seen.
    pub fn make(accounts: &Accounts) -> Result<Logins> {
        let client = login(&accounts.user, &accounts.database)?;
        let probe = login(&accounts.probe, &accounts.database)?;
        let fill = |statement: &String| {
            let filled = statement
                .replace("{user}", &client.user)
                .replace("{password}", client.password.reveal())
                .replace("{probe}", &probe.user)
                .replace("{probe_password}", probe.password.reveal())
                .replace("{database}", &client.database);
            filled + ";\n"
        };
        let sql = Secret::new(accounts.sql.iter().map(fill).collect::<String>());
        Ok(Logins { client, probe, sql })
    }

    /// Writes the file that makes them, for the user that the server runs as.
    pub fn write(&self, path: &Path, uid: Option<u32>) -> Result<()> {
        forget(path);
        private_file::write(path, self.sql.reveal(), uid).map_err(|e| {
            let what = format!("the accounts of a store cannot be written: {e}");
            let step = "look whether the disk is full, or point TMPDIR at another directory";
            Problem::new(Kind::Failed, what)
                .at(path.display().to_string())
                .next(step)
        })
    }
}

/// Removes the file.
pub fn forget(path: &Path) {
    if let Err(e) = fs::remove_file(path)
        && e.kind() != ErrorKind::NotFound
    {
        // What cannot be removed can be emptied; both fail only where the directory is gone.
        let _ = fs::write(path, "");
    }
}

fn login(user: &str, database: &str) -> Result<Login> {
    let mut bytes = [0; PASSWORD_BYTES];
    getrandom::fill(&mut bytes).map_err(|e| {
        let what = format!("the kernel gives no random numbers: {e}");
        Problem::new(Kind::Failed, what)
    })?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Login {
        user: user.to_owned(),
        password: Secret::new(digits),
        database: database.to_owned(),
    })
}
