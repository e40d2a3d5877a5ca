use super::*;
use proptest::prelude::*;

fn listed(key: &[u8], expires_unix_s: Option<u64>) -> Listed {
    Listed {
        key: key.to_vec(),
        expires_unix_s,
    }
}

#[test]
fn a_line_of_the_crawler_is_parsed() {
    let line = b"key=%22b%26%25%22 exp=-1 la=1795174928 cas=2 fetch=no cls=1 size=67";
    assert_eq!(Listed::parse(line), Some(listed(b"\"b&%\"", None)));
    let line = b"key=a exp=1795175028 la=1 cas=1 fetch=yes cls=1 size=67";
    assert_eq!(Listed::parse(line), Some(listed(b"a", Some(1_795_175_028))));
    for bad in [
        "",
        "END",
        "key=",
        "key= exp=1",
        "key=a",
        "key=%2 exp=1",
        "key=a exp=x",
    ] {
        assert_eq!(Listed::parse(bad.as_bytes()), None, "{bad}");
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
    let item = |expires, reply| listed(b"k", expires).item(reply, 1000).unwrap();
    assert_eq!(item(Some(1101), "f5 t100").expires_unix_s, 1101);
    assert_eq!(item(Some(5000), "f5 t100").expires_unix_s, 1100);
    assert_eq!(item(None, "f5 t100").expires_unix_s, 1100);
    let for_ever = item(Some(1101), "f5 t-1");
    assert_eq!((for_ever.ttl_s, for_ever.expires_unix_s), (None, 0));
    assert_eq!(for_ever.flags, 5);
    assert_eq!(listed(b"k", None).item("t1", 1000), None);
    assert_eq!(listed(b"k", None).item("f1 t", 1000), None);
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
        let line = format!("key={encoded} exp=0 la=0");
        prop_assert_eq!(Listed::parse(line.as_bytes()).unwrap().key, key);
    }

    #[test]
    fn garbage_gives_no_item_and_no_panic(line in prop::collection::vec(any::<u8>(), 0..300), flags: String) {
        let _ = Listed::parse(&line);
        let _ = listed(b"k", Some(1)).item(&flags, u64::MAX);
    }
}
