"""Runs a transient service for each line on standard input, over one D-Bus connection to systemd.

A run is StartTransientUnit, then its JobRemoved (Type=oneshot: the job ends with the process); CollectMode
takes the unit away by itself. "done" is written for each.
"""

import sys

from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
from jeepney.io.blocking import Proxy, open_dbus_connection

BUS = "org.freedesktop.systemd1"
PATH = "/org/freedesktop/systemd1"
INTERFACE = "org.freedesktop.systemd1.Manager"

connection = open_dbus_connection(bus="SYSTEM")
manager = DBusAddress(PATH, bus_name=BUS, interface=INTERFACE)
# No sender: signals carry the bus's own name of it.
rule = MatchRule(type="signal", interface=INTERFACE, member="JobRemoved", path=PATH)
Proxy(message_bus, connection).AddMatch(rule)
connection.send_and_get_reply(new_method_call(manager, "Subscribe"))

with connection.filter(rule) as removed:
    for number, _ in enumerate(sys.stdin):
        name = f"bench-{number}.service"
        properties = [
            ("Type", ("s", "oneshot")),
            ("CollectMode", ("s", "inactive-or-failed")),
            ("ExecStart", ("a(sasb)", [("/bin/bash", ["bash", "-c", "true"], False)])),
        ]
        call = new_method_call(manager, "StartTransientUnit", "ssa(sv)a(sa(sv))", (name, "fail", properties, []))
        reply = connection.send_and_get_reply(call)
        if reply.header.message_type.name == "error":
            print(reply.body, flush=True)
            continue
        job = reply.body[0]
        while True:
            _, path, _, result = connection.recv_until_filtered(removed).body
            if path == job:
                print("done" if result == "done" else result, flush=True)
                break
