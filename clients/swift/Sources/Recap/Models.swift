#if canImport(Observation)
  import Observation

  /// A chat for SwiftUI: `.task { await model.watch() }` opens it while its view is shown.
  @MainActor
  @Observable
  public final class ChatModel {
    public let chat: Chat
    public private(set) var state = ChatState()

    public init(_ chat: Chat) { self.chat = chat }

    public func watch() async {
      for await state in chat.states { self.state = state }
    }
  }

  /// A list for SwiftUI.
  @MainActor
  @Observable
  public final class ListModel {
    public let list: ConversationList
    public private(set) var state = ListState()

    public init(_ list: ConversationList) { self.list = list }

    public func watch() async {
      for await state in list.states { self.state = state }
    }
  }
#endif
