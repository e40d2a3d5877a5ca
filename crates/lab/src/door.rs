//! Which way into a store a client takes, so that the right counters bear witness. The client itself
//! goes to the door that it speaks; this is the host's knowledge of the same.

use roundtrip_model::Path;
use roundtrip_model::contract::ClientInfo;
use roundtrip_stores::Manifest;
use roundtrip_stores::manifest::Protocol;

/// The option by which a client of several protocols is told which one to speak.
const PROTOCOL: &str = "protocol";

/// The name of the door that a client goes to; `None` where it takes the store's usual way in.
pub fn door<'m>(path: &Path, client: &ClientInfo, manifest: &'m Manifest) -> Option<&'m str> {
    let named = |name: &str| {
        manifest
            .doors
            .get_key_value(name)
            .map(|(name, _)| name.as_str())
    };
    // memcached's meta commands are spoken where its others are.
    let asked = path
        .options
        .get(PROTOCOL)
        .map(|asked| match asked.as_str() {
            "meta" => "memcached",
            asked => asked,
        });
    // What is no door is a dialect of what the client speaks anyway, as `binary` is.
    if let Some(name) = asked.and_then(named) {
        return Some(name);
    }
    // Every other store that it reaches tells what it speaks.
    let others = client
        .stores
        .iter()
        .filter(|store| **store != manifest.name);
    let spoken: Vec<Protocol> = others
        .filter_map(|store| roundtrip_stores::find(store).ok())
        .flat_map(|other| other.protocols().iter().copied())
        .collect();
    if spoken.contains(&manifest.protocol) {
        return None;
    }
    let mut doors = manifest.doors.iter();
    doors
        .find(|(_, door)| spoken.contains(&door.protocol))
        .map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stores: &[&str], options: &[(&str, &str)]) -> Option<&'static str> {
        let client = serde_json::json!({
            "name": "x", "available": true, "stores": stores, "ops": [],
        });
        let client: ClientInfo = serde_json::from_value(client).unwrap();
        let mut path: Path = "native@mysql".parse().unwrap();
        for (name, value) in options {
            path.options.insert((*name).to_owned(), (*value).to_owned());
        }
        door(&path, &client, roundtrip_stores::find("mysql").unwrap())
    }

    #[test]
    fn a_client_goes_to_the_door_that_it_speaks() {
        assert_eq!(of(&["memcached", "floor", "mysql"], &[]), Some("memcached"));
        assert_eq!(of(&["mysql", "mariadb"], &[]), None);
        for dialect in ["ascii", "binary"] {
            let asked = [("protocol", dialect)];
            assert_eq!(of(&["memcached", "mysql"], &asked), Some("memcached"));
        }
        let native = ["memcached", "mysql", "mariadb"];
        assert_eq!(of(&native, &[("protocol", "meta")]), Some("memcached"));
        assert_eq!(of(&native, &[("protocol", "mysql")]), None);
        assert_eq!(of(&["mysql"], &[]), None);
        let all = ["memcached", "redis", "mysql", "mariadb", "floor"];
        assert_eq!(of(&all, &[]), None);
        assert_eq!(of(&all, &[("protocol", "memcached")]), Some("memcached"));
        assert_eq!(of(&all, &[("protocol", "mysql")]), None);
    }

    #[test]
    fn a_store_without_doors_has_its_usual_way_in() {
        let client = serde_json::json!({
            "name": "x", "available": true, "stores": ["memcached"], "ops": [],
        });
        let client: ClientInfo = serde_json::from_value(client).unwrap();
        let path: Path = "native@memcached".parse().unwrap();
        let manifest = roundtrip_stores::find("memcached").unwrap();
        assert_eq!(door(&path, &client, manifest), None);
    }
}
