use super::*;
use proptest::prelude::*;

fn listed(key: &[u8], expires_unix_s: Option<u64>) -> Listed {
    Listed {
        key: key.to_vec(),
        expires_unix_s,
    }
}

fn dumped(escaped_key: &[u8], expires: i64) -> Option<Listed> {
    Listed::of(&DumpedItem {
        escaped_key,
        expires,
        last_access: 1_795_174_928,
        cas: 2,
        fetched: false,
        class: 1,
        bytes: 67,
    })
}

#[test]
fn what_the_crawler_says_is_understood() {
    assert_eq!(dumped(b"%22b%26%25%22", -1), Some(listed(b"\"b&%\"", None)));
    let end = 1_795_175_028;
    assert_eq!(dumped(b"a", end), Some(listed(b"a", Some(end as u64))));
    assert_eq!(dumped(b"a", 0), Some(listed(b"a", None)));
    for broken in ["", "%2", "%zz"] {
        assert_eq!(dumped(broken.as_bytes(), 1), None, "{broken}");
    }
}

#[test]
fn a_key_with_blanks_is_asked_for_in_base64() {
    let mut out = Vec::new();
    listed(b"a", None).push_request(&mut out);
    listed(b"foo bar", None).push_request(&mut out);
    let expected = "mg a v f t u\r\nmg Zm9vIGJhcg== b v f t u\r\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn base64_is_that_of_rfc_4648() {
    for (text, encoded) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foobar", "Zm9vYmFy"),
    ] {
        assert_eq!(base64(text.as_bytes()), encoded);
    }
    assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
}

#[test]
fn the_listed_end_holds_unless_the_item_was_written_anew() {
    let flags = |text: &'static str| MetaFlags::listed(text.as_bytes()).unwrap();
    let item = |expires, reply| listed(b"k", expires).item(flags(reply), 1000).unwrap();
    assert_eq!(item(Some(1101), "f5 t100").expires_unix_s, 1101);
    assert_eq!(item(Some(5000), "f5 t100").expires_unix_s, 1100);
    assert_eq!(item(None, "f5 t100").expires_unix_s, 1100);
    let for_ever = item(Some(1101), "f5 t-1");
    assert_eq!((for_ever.ttl_s, for_ever.expires_unix_s), (None, 0));
    assert_eq!(for_ever.flags, 5);
    assert_eq!(listed(b"k", None).item(flags("t1"), 1000), None);
    assert_eq!(listed(b"k", None).item(flags("f1 t"), 1000), None);
}

#[test]
fn both_forms_carry_any_key_and_value() {
    let mut item = Item {
        key: b"k".to_vec(),
        flags: 7,
        ttl_s: Some(9),
        expires_unix_s: 1009,
    };
    let write = |item: &Item, value: &[u8]| {
        let (mut add, mut json) = (Vec::new(), Vec::new());
        write_add(item, value, &mut add).unwrap();
        write_json(item, value, &mut json).unwrap();
        (
            String::from_utf8_lossy(&add).into_owned(),
            String::from_utf8(json).unwrap(),
        )
    };
    let (add, json) = write(&item, b"a\r\nb");
    assert_eq!(add, "add k 7 1009 4\r\na\r\nb\r\n");
    assert_eq!(
        json,
        "{\"key\":\"k\",\"flags\":7,\"ttl_s\":9,\"value\":\"a\\r\\nb\"}\n"
    );
    item.key = vec![b' ', 0xff];
    item.ttl_s = None;
    item.expires_unix_s = 0;
    let (add, json) = write(&item, &[0xff]);
    assert!(add.starts_with("ms IP8= 1 b F7 T0 ME\r\n"), "{add}");
    let expected =
        "{\"key_base64\":\"IP8=\",\"flags\":7,\"ttl_s\":null,\"value_base64\":\"/w==\"}\n";
    assert_eq!(json, expected);
}

proptest! {
    #[test]
    fn percent_encoding_is_undone(key in prop::collection::vec(any::<u8>(), 1..250)) {
        let encoded: String = key.iter().map(|b| format!("%{b:02X}")).collect();
        prop_assert_eq!(dumped(encoded.as_bytes(), 0).unwrap().key, key);
    }

    #[test]
    fn garbage_gives_no_panic(key in prop::collection::vec(any::<u8>(), 0..300), flags: String) {
        let _ = dumped(&key, i64::MAX);
        if let Some(flags) = MetaFlags::listed(flags.as_bytes()) {
            let _ = listed(b"k", Some(1)).item(flags, u64::MAX);
        }
    }
}
