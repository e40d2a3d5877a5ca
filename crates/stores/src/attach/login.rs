//! Who the user is to a store that is there already: his name and the database may stand in the
//! address, the password only in the environment.

use crate::manifest::{Protocol, registry};
use crate::probe::mysql::{DATABASE_VARIABLE, PASSWORD_VARIABLE, USER_VARIABLE};
use roundtrip_model::contract::Login;
use roundtrip_model::path::MAX_TEXT;
use roundtrip_model::{Kind, Problem, Result, Secret};

/// The address without user and database, and the login; none for a store without users.
pub fn split(url: &str) -> Result<(String, Option<Login>)> {
    let told = |variable: &str| std::env::var(variable).ok().filter(|text| !text.is_empty());
    split_with(url, &told)
}

fn split_with(url: &str, told: &dyn Fn(&str) -> Option<String>) -> Result<(String, Option<Login>)> {
    let with_users = |scheme: &str| {
        let mut manifests = registry().iter().filter(|m| m.protocol == Protocol::Mysql);
        manifests.any(|m| {
            m.attach
                .as_ref()
                .is_some_and(|attach| attach.scheme == scheme)
        })
    };
    let Some((scheme, rest)) = url
        .split_once("://")
        .filter(|(scheme, _)| with_users(scheme))
    else {
        return Ok((url.to_owned(), None));
    };
    // A text that may hold a password is not repeated.
    let bad = |what: &str| {
        let form = format!(
            "write {scheme}://USER@HOST:PORT/DATABASE, with the password in the environment variable {PASSWORD_VARIABLE}"
        );
        Problem::new(Kind::Usage, what).next(form)
    };
    if url.len() > MAX_TEXT || url.chars().any(char::is_control) {
        return Err(bad("the address of the store is too long or not text"));
    }
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, rest),
    };
    if user.is_some_and(|user| user.contains(':')) {
        return Err(bad(
            "the address of the store holds a password, which others could read",
        ));
    }
    // What begins with a slash is a socket.
    let (place, database) = match place.split_once('/') {
        Some((host, database)) if !host.is_empty() => (host, Some(database)),
        _ => (place, None),
    };
    let known = |text: &str| !text.is_empty() && !text.contains(['/', '?', '#', '@']);
    if !user.into_iter().chain(database).all(known) {
        return Err(bad(
            "the address of the store names no user, or no database, where it should",
        ));
    }
    let user = user.map(str::to_owned).or_else(|| told(USER_VARIABLE));
    let database = database
        .map(str::to_owned)
        .or_else(|| told(DATABASE_VARIABLE));
    let missing = |what: &str, variable: &str| {
        let what = format!("the address of the store does not say {what}");
        let form = format!("write {scheme}://USER@HOST:PORT/DATABASE, or set {variable}");
        Problem::new(Kind::Usage, what).next(form)
    };
    let login = Login {
        user: user.ok_or_else(|| missing("who the user is", USER_VARIABLE))?,
        password: Secret::new(told(PASSWORD_VARIABLE).unwrap_or_default()),
        database: database.ok_or_else(|| missing("which database to use", DATABASE_VARIABLE))?,
    };
    Ok((format!("{scheme}://{place}"), Some(login)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(url: &str, told: &[(&str, &str)]) -> Result<(String, Option<Login>)> {
        split_with(url, &|name| {
            let found = told.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn user_and_database_come_from_the_address_or_the_environment() {
        let told = [
            (USER_VARIABLE, "u"),
            (PASSWORD_VARIABLE, "p"),
            (DATABASE_VARIABLE, "d"),
        ];
        for (url, place, user, database) in [
            ("mysql://me@h:1/shop", "mysql://h:1", "me", "shop"),
            ("mysql://h:1", "mysql://h:1", "u", "d"),
            ("mysql://me@[::1]:1", "mysql://[::1]:1", "me", "d"),
            ("mariadb://h/shop", "mariadb://h", "u", "shop"),
            ("mysql:///run/m.sock", "mysql:///run/m.sock", "u", "d"),
            ("mysql://me@/run/m.sock", "mysql:///run/m.sock", "me", "d"),
        ] {
            let (address, login) = split(url, &told).unwrap();
            let login = login.unwrap();
            assert_eq!(address, place);
            assert_eq!(
                (login.user.as_str(), login.database.as_str()),
                (user, database)
            );
            assert_eq!(login.password.reveal(), "p");
        }
        // Who has none needs none.
        let (_, login) = split("mysql://me@h/shop", &[]).unwrap();
        assert_eq!(login.unwrap().password.reveal(), "");
    }

    #[test]
    fn a_store_without_users_is_left_as_it_is() {
        let (address, login) = split("memcached://h:1", &[]).unwrap();
        assert_eq!((address.as_str(), login), ("memcached://h:1", None));
    }

    #[test]
    fn a_password_in_the_address_is_refused_and_not_repeated() {
        let problem = split("mysql://me:secret@h:1/shop", &[]).unwrap_err();
        assert_eq!(problem.kind, Kind::Usage);
        assert!(!problem.to_string().contains("secret"));
        assert!(problem.next_step.unwrap().contains(PASSWORD_VARIABLE));
    }

    #[test]
    fn what_is_missing_is_said() {
        for (url, variable) in [
            ("mysql://h:1/shop", USER_VARIABLE),
            ("mysql://me@h:1", DATABASE_VARIABLE),
            ("mysql://me@h:1/", PASSWORD_VARIABLE),
            ("mysql://@h:1/shop", PASSWORD_VARIABLE),
            ("mysql://me@h:1/a/b", PASSWORD_VARIABLE),
        ] {
            let problem = split(url, &[]).unwrap_err();
            assert_eq!(problem.kind, Kind::Usage, "{url}");
            assert!(problem.next_step.unwrap().contains(variable), "{url}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(mysql://)?[a-z0-9@.:/\\[\\]]{0,20}|.*") {
            let _ = split(&text, &[]);
        }
    }
}
