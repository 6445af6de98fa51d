// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "Recap",
  platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
  products: [.library(name: "Recap", targets: ["Recap"])],
  targets: [
    .target(name: "Recap"),
    // A client of the conformance suite: clients/conformance/README.md
    .executableTarget(name: "Driver", dependencies: ["Recap"], path: "Conformance"),
  ],
  swiftLanguageModes: [.v6]
)
