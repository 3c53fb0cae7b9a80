//! Live readers.

use std::collections::HashMap;

use futures_util::{FutureExt, StreamExt};
use harness_model::EventBody;
use harness_publish::Bus;
use tokio::task::JoinSet;

use crate::support::{change, label, labels, output, waiting};

#[tokio::test]
async fn a_reader_gets_what_comes_after_it_in_order() {
    let bus = Bus::new(10);
    assert_eq!(bus.publish(change("before")), 1);
    let mut reader = bus.subscribe(None);
    assert_eq!(bus.publish(change("a")), 2);
    assert_eq!(bus.publish(output("text")), 3);
    assert_eq!(bus.publish(change("b")), 4);
    let events = waiting(&mut reader);
    let seen: Vec<_> = events
        .iter()
        .map(|event| (event.seq, label(event)))
        .collect();
    assert_eq!(
        seen,
        [
            (2, "a".to_owned()),
            (3, "'text'".to_owned()),
            (4, "b".to_owned())
        ]
    );
    assert!(events.is_sorted_by_key(|event| event.at));
}

#[tokio::test]
async fn a_reader_that_waits_is_woken() {
    let bus = Bus::new(10);
    let mut reader = bus.subscribe(None);
    let (event, _) = tokio::join!(reader.next(), async { bus.publish(change("a")) });
    assert_eq!(label(&event.unwrap()), "a");
}

#[tokio::test]
async fn it_is_a_stream_too() {
    let bus = Bus::new(10);
    let reader = bus.subscribe(None);
    bus.publish(change("a"));
    bus.publish(change("b"));
    drop(bus);
    let seen: Vec<_> = reader.map(|event| label(&event)).collect().await;
    assert_eq!(seen, ["a", "b"]);
}

#[tokio::test]
async fn a_next_that_is_dropped_loses_nothing() {
    let bus = Bus::new(10);
    let mut reader = bus.subscribe(None);
    assert!(reader.next().now_or_never().is_none());
    bus.publish(change("a"));
    assert_eq!(labels(&mut reader), ["a"]);
}

#[tokio::test]
async fn a_slow_reader_loses_the_oldest_and_is_told_where_and_how_many() {
    let bus = Bus::new(10);
    let mut slow = bus.subscribe(None);
    let mut quick = bus.subscribe(None);
    let mut got = 0;
    for number in 0..3000 {
        bus.publish(change(&format!("u{number}")));
        got += waiting(&mut quick).len();
    }
    assert_eq!(got, 3000, "the slow one is nobody else's trouble");
    let events = waiting(&mut slow);
    assert_eq!(label(&events[0]), "dropped 1976");
    assert_eq!(events.len(), 1 + 1024);
    assert_eq!(
        events[0].seq + 1,
        events[1].seq,
        "a resume from it goes on with what is left"
    );
    assert_eq!(label(events.last().unwrap()), "u2999");
    bus.publish(change("later"));
    assert_eq!(
        labels(&mut slow),
        ["later"],
        "what was told once is not told again"
    );
}

#[tokio::test]
async fn a_flood_of_output_pushes_out_nothing_else() {
    let bus = Bus::new(10);
    let mut reader = bus.subscribe(None);
    bus.publish(change("first"));
    for _ in 0..10_000 {
        bus.publish(output("x"));
    }
    bus.publish(change("middle"));
    for _ in 0..10 {
        bus.publish(output("y"));
    }
    bus.publish(change("last"));
    let events = waiting(&mut reader);
    let seen: Vec<_> = events
        .iter()
        .map(label)
        .filter(|label| label != "'x'")
        .collect();
    assert_eq!(
        seen,
        ["first", "dropped 9489", "middle", "dropped 10", "last"]
    );
    assert!(events.is_sorted_by_key(|event| event.seq));
    assert_eq!(events.len(), 511 + 5);
}

#[tokio::test]
async fn output_is_published_only_while_somebody_wants_it() {
    let bus = Bus::new(10);
    assert!(!bus.wants_output());
    assert_eq!(bus.publish(output("unseen")), 0);
    let mut plain = bus.subscribe_without_output(None);
    assert!(!bus.wants_output());
    let reader = bus.subscribe(None);
    assert!(bus.wants_output());
    assert_eq!(bus.publish(output("seen")), 1);
    drop(reader);
    assert!(!bus.wants_output());
    assert_eq!(bus.publish(change("a")), 2);
    assert_eq!(labels(&mut plain), ["a"]);
}

#[tokio::test]
async fn a_closed_bus_ends_its_readers_after_what_waits_for_them() {
    let bus = Bus::new(10);
    let mut reader = bus.subscribe(None);
    bus.publish(change("a"));
    bus.close();
    bus.publish(change("late"));
    assert_eq!(label(&reader.next().await.unwrap()), "a");
    assert_eq!(reader.next().await, None);
    assert_eq!(reader.next().await, None);
    assert_eq!(bus.subscribe(None).next().await, None);
    assert!(!bus.wants_output());
}

#[tokio::test]
async fn a_reader_that_waits_when_the_last_bus_goes_is_woken() {
    let bus = Bus::new(10);
    let mut reader = bus.subscribe(None);
    let (end, ()) = tokio::join!(reader.next(), async { drop(bus) });
    assert_eq!(end, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_publishers_every_reader_sees_one_order_without_gap() {
    const EACH: u64 = 200;
    let bus = Bus::new(10);
    let readers: Vec<_> = (0..4).map(|_| bus.subscribe(None)).collect();
    let mut publishers = JoinSet::new();
    for publisher in 0..4 {
        let bus = bus.clone();
        publishers.spawn(async move {
            let numbers: Vec<u64> = (0..EACH)
                .map(|number| bus.publish(change(&format!("p{publisher}-{number}"))))
                .collect();
            assert!(numbers.is_sorted());
        });
    }
    while let Some(done) = publishers.join_next().await {
        done.unwrap();
    }
    bus.close();
    let mut orders = HashMap::new();
    for reader in readers {
        let events: Vec<_> = reader.collect().await;
        let numbers: Vec<_> = events.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=4 * EACH).collect::<Vec<_>>());
        let order: Vec<_> = events.iter().map(|event| label(event)).collect();
        *orders.entry(order).or_insert(0) += 1;
    }
    assert_eq!(orders.into_values().collect::<Vec<_>>(), [4]);
}

#[tokio::test]
async fn every_event_has_a_name_and_json_that_reads_back() {
    let bus = Bus::new(10);
    let mut reader = bus.subscribe(None);
    bus.publish(output("nul \0 bidi \u{202e}"));
    bus.publish(change("a"));
    for event in waiting(&mut reader) {
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["event"], event.body.name());
        let back: harness_model::Event = serde_json::from_value(json).unwrap();
        assert_eq!((back.seq, back.body), (event.seq, event.body.clone()));
        assert!(!matches!(event.body, EventBody::Dropped { .. }));
    }
}
