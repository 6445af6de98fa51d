import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import * as ai7 from 'ai7';
import type { ChatSetup, ChatUnderTest } from '#test/support/wire/ai-sdk-world.ts';
import { chatState } from '#test/support/wire/chat-state.ts';

type ToolOutput = { tool: string; toolCallId: string } & (
  { output: unknown } | { state: 'output-error'; errorText: string }
);

export interface ToolChat extends ChatUnderTest {
  addToolOutput: (output: ToolOutput) => PromiseLike<void> | void;
  /** Not in version 5. */
  addToolApprovalResponse?: (answer: { id: string; approved: boolean }) => PromiseLike<void> | void;
}

class Chat5 extends ai5.AbstractChat<ai5.UIMessage> {}
class Chat6 extends ai6.AbstractChat<ai6.UIMessage> {}
class Chat7 extends ai7.AbstractChat<ai7.UIMessage> {}

/** Every supported version of the package `ai`, with a chat that sends tool outputs and approvals by itself. */
export const versions: [version: string, createChat: (setup: ChatSetup) => ToolChat][] = [
  [
    '5',
    ({ messages, transport, ...setup }) =>
      new Chat5({
        ...setup,
        state: chatState<ai5.UIMessage>(messages),
        transport: new ai5.DefaultChatTransport(transport),
        sendAutomaticallyWhen: ai5.lastAssistantMessageIsCompleteWithToolCalls,
      }),
  ],
  [
    '6',
    ({ messages, transport, ...setup }) =>
      new Chat6({
        ...setup,
        state: chatState<ai6.UIMessage>(messages),
        transport: new ai6.DefaultChatTransport(transport),
        sendAutomaticallyWhen: (chat) =>
          ai6.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
          ai6.lastAssistantMessageIsCompleteWithApprovalResponses(chat),
      }),
  ],
  [
    '7',
    ({ messages, transport, ...setup }) =>
      new Chat7({
        ...setup,
        state: chatState<ai7.UIMessage>(messages),
        transport: new ai7.DefaultChatTransport(transport),
        sendAutomaticallyWhen: (chat) =>
          ai7.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
          ai7.lastAssistantMessageIsCompleteWithApprovalResponses(chat),
      }),
  ],
];
