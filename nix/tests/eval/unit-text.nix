# Units as files below /etc/systemd/system, the way NixOS writes them: a drop-in where that was asked for.
{ lib }:
systemd:
let
  word = value: if lib.isBool value then lib.boolToString value else toString value;
  lines =
    section:
    lib.concatStrings (
      lib.concatLists (
        lib.mapAttrsToList (key: value: map (one: "${key}=${word one}\n") (lib.toList value)) section
      )
    );

  unitSection =
    unit:
    lib.optionalString (unit.description != "") "Description=${unit.description}\n"
    + lib.optionalString (unit.reloadTriggers or [ ] != [ ]) (
      "X-Reload-Triggers=${lib.concatMapStringsSep " " toString unit.reloadTriggers}\n"
    );

  serviceSection =
    unit:
    let
      environment = unit.environment // {
        PATH = "${lib.makeBinPath unit.path}:${lib.makeSearchPathOutput "bin" "sbin" unit.path}";
      };
    in
    lib.concatStrings (
      lib.mapAttrsToList (name: value: "Environment=${builtins.toJSON "${name}=${value}"}\n") environment
    )
    + (
      if unit.reloadIfChanged then
        "X-ReloadIfChanged=true\n"
      else
        lib.optionalString (!unit.restartIfChanged) "X-RestartIfChanged=false\n"
    )
    + lib.optionalString (!unit.stopIfChanged) "X-StopIfChanged=false\n"
    + lines unit.serviceConfig;

  file =
    kind: name: unit:
    if unit.overrideStrategy == "asDropin" then
      "${name}.${kind}.d/overrides.conf"
    else
      "${name}.${kind}";

  files =
    kind: title: sectionOf: units:
    lib.mapAttrs' (
      name: unit:
      lib.nameValuePair (file kind name unit) "[Unit]\n${unitSection unit}\n[${title}]\n${sectionOf unit}"
    ) units;
in
files "service" "Service" serviceSection systemd.services
// files "socket" "Socket" (unit: lines unit.socketConfig) systemd.sockets
// files "slice" "Slice" (unit: lines unit.sliceConfig) systemd.slices
