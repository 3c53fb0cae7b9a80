//! Readers that come back.

use harness_publish::Bus;

use crate::support::{change, labels, output, waiting};

fn bus_of(events: usize, history: usize) -> (Bus, Vec<String>) {
    let bus = Bus::new(history);
    let mut reader = bus.subscribe_without_output(None);
    let mut ids = Vec::new();
    for number in 1..=events {
        bus.publish(change(&format!("u{number}")));
        ids.extend(waiting(&mut reader).iter().map(|event| bus.id_of(event)));
    }
    (bus, ids)
}

#[tokio::test]
async fn a_reader_goes_on_where_it_was() {
    let (bus, ids) = bus_of(5, 10);
    let mut reader = bus.subscribe(Some(&ids[2]));
    bus.publish(change("u6"));
    assert_eq!(labels(&mut reader), ["u4", "u5", "u6"]);
    assert_eq!(labels(&mut bus.subscribe(Some(&ids[4]))), ["u6"]);
}

#[tokio::test]
async fn one_that_comes_too_late_is_told_how_many_it_missed() {
    let (bus, ids) = bus_of(10, 4);
    assert_eq!(
        labels(&mut bus.subscribe(Some(&ids[1]))),
        ["dropped 4", "u7", "u8", "u9", "u10"]
    );
    let at_the_edge = &ids[5];
    assert_eq!(
        labels(&mut bus.subscribe(Some(at_the_edge))),
        ["u7", "u8", "u9", "u10"]
    );
    let mut again = bus.subscribe(Some(&ids[1]));
    let dropped = bus.id_of(&again.next().await.unwrap());
    assert_eq!(
        labels(&mut bus.subscribe(Some(&dropped))),
        ["u7", "u8", "u9", "u10"]
    );
}

#[tokio::test]
async fn output_is_not_kept_and_not_missed() {
    let bus = Bus::new(3);
    let mut reader = bus.subscribe(None);
    bus.publish(change("a"));
    bus.publish(output("x"));
    bus.publish(change("b"));
    for _ in 0..100 {
        bus.publish(output("y"));
    }
    let events = waiting(&mut reader);
    let (first, last) = (bus.id_of(&events[0]), bus.id_of(events.last().unwrap()));
    assert_eq!(labels(&mut bus.subscribe(Some(&first))), ["b"]);
    assert_eq!(labels(&mut bus.subscribe(Some(&last))), [""; 0]);
}

#[tokio::test]
async fn an_id_from_another_start_or_none_at_all_says_so_and_gives_what_is_left() {
    let (_other, foreign) = bus_of(9, 10);
    let (bus, ids) = bus_of(3, 2);
    let beyond = ids[0].replace("-1", "-999");
    let huge = ids[0].replace("-1", "-99999999999999999999999");
    for id in [
        foreign[8].as_str(),
        "",
        "-",
        "5",
        "x-1",
        "\u{202e}\0-1",
        &beyond,
        &huge,
    ] {
        assert_eq!(
            labels(&mut bus.subscribe(Some(id))),
            ["dropped 1", "u2", "u3"],
            "{id:?}"
        );
    }
    // Even when nothing of this start is lost, something of the other may be.
    let fresh = Bus::new(10);
    assert_eq!(
        labels(&mut fresh.subscribe(Some(&foreign[8]))),
        ["dropped 1"]
    );
}

#[tokio::test]
async fn without_history_all_that_was_missed_is_counted() {
    let (bus, ids) = bus_of(3, 0);
    assert_eq!(labels(&mut bus.subscribe(Some(&ids[0]))), ["dropped 2"]);
    assert_eq!(labels(&mut bus.subscribe(Some(&ids[2]))), [""; 0]);
}

#[tokio::test]
async fn a_long_past_takes_no_room_from_what_comes() {
    let (bus, ids) = bus_of(5000, 5000);
    let mut reader = bus.subscribe(Some(&ids[0]));
    for number in 5001..=6000 {
        bus.publish(change(&format!("u{number}")));
    }
    let seen = labels(&mut reader);
    assert_eq!(seen.len(), 5999);
    assert_eq!(seen[0], "u2");
}
