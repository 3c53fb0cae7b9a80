# A tool group of one's own: a Rust crate of crate-type "cdylib", built with the plugin SDK.
{ lib, pkgs, ... }:
let
  weather = pkgs.harnessdLib.buildPlugin {
    name = "weather";
    version = "1.0.0";
    src = pkgs.fetchgit {
      url = "https://git.example.org/harness-weather";
      rev = "v1.0.0";
      hash = lib.fakeHash;
    };
    cargoHash = lib.fakeHash;
  };
in
{
  services.harnessd.agents.planner = {
    workspace = "/srv/planner";
    toolGroups = [
      "shell"
      "wakes"
      "weather"
    ];
    plugins.weather = {
      package = weather;
      settings.station = "EDDF";
    };
    tools."weather__*".mode = "allow";
  };
}
