import { AbstractChat, DefaultChatTransport, type UIMessage } from 'ai5';
import { chatState } from '#test/support/wire/chat-state.ts';
import { describeAiSdk } from './ai-sdk.suite.ts';

class Chat extends AbstractChat<UIMessage> {}

describeAiSdk(
  '5',
  ({ id, messages, transport, onData }) =>
    new Chat({
      id,
      state: chatState<UIMessage>(messages),
      transport: new DefaultChatTransport(transport),
      onData,
    }),
);
