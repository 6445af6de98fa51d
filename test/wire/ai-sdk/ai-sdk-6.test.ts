import { AbstractChat, DefaultChatTransport, type UIMessage } from 'ai6';
import { chatState } from '#test/support/wire/chat-state.ts';
import { describeAiSdk } from './ai-sdk.suite.ts';

class Chat extends AbstractChat<UIMessage> {}

describeAiSdk(
  '6',
  ({ id, messages, transport, onData }) =>
    new Chat({
      id,
      state: chatState<UIMessage>(messages),
      transport: new DefaultChatTransport(transport),
      onData,
    }),
);
