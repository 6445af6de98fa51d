import type { SourceFile } from './launchers/build-client.ts';
import { packagePages } from './package-pages.ts';

/** What needs these is for Apple's systems alone. */
const OF_APPLE = /^import (?:SwiftUI|UIKit|FirebaseMessaging)$/m;

/** The parts of Firebase that the pages call, and what they leave to the app. */
const LEFT_TO_THE_APP = `
import Foundation
import Recap

final class Auth: Sendable {
  struct User { func getIDToken(forcingRefresh: Bool) async throws -> String { "" } }
  static func auth() -> Auth { Auth() }
  var currentUser: User? { nil }
}
final class AppCheck: Sendable {
  struct Token { let token: String }
  static func appCheck() -> AppCheck { AppCheck() }
  func token(forcingRefresh: Bool) async throws -> Token { Token(token: "") }
}
enum StreamResponse<Chunk: Sendable, Result: Sendable>: Sendable { case message(Chunk), result(Result) }
struct Callable<Request, Response> {
  var timeoutInterval: TimeInterval = 0
  func stream(_ request: Request) throws -> AsyncThrowingStream<Response, any Error> { AsyncThrowingStream { nil } }
}
struct Functions {
  static func functions() -> Functions { Functions() }
  func httpsCallable<Request, Response>(_ url: URL) -> Callable<Request, Response> { Callable() }
}

#if canImport(FoundationNetworking)
  extension URL { static var applicationSupportDirectory: URL { URL(fileURLWithPath: "/") } }
#endif

let chatURL = ""
let userId = ""
let conversationId = ""
let messageId = ""
let callId = ""
let data = Data()
@MainActor func showRows(_ rows: [Row]) {}
@MainActor func showMessages(_ messages: [Message]) {}
`;

const IMPORT = /^import .*\n/gm;

/** The blocks of a page in one function, each in a scope within that of the block before it. */
function pageFile(page: string, blocks: readonly string[]): SourceFile {
  const name = page.replaceAll(/\W/g, '_');
  return {
    name: `Conformance/Page_${name}.swift`,
    text: [
      'import Foundation',
      'import Recap',
      '@MainActor',
      `func paste_${name}() async throws {`,
      blocks.map((text) => text.replaceAll(IMPORT, '')).join('\ndo {\n'),
      '}'.repeat(blocks.length),
    ].join('\n'),
  };
}

/** The Swift of every page and of the package's README as files to compile with it, but for what only Apple's systems have. */
export function swiftPages(): { pages: string[]; files: SourceFile[] } {
  const { pages, files } = packagePages('swift', pageFile, (block) => OF_APPLE.test(block));
  return { pages, files: [{ name: 'Conformance/App.swift', text: LEFT_TO_THE_APP }, ...files] };
}
