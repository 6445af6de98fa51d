import { chatState } from '#test/support/wire/use-chat.ts';
import type { Library } from './talk.ts';
import { testLibraries } from './test-libraries.ts';
import { plainTransport, talkInChat, type ChatSetup, type OpenChat } from './ui-chat.ts';
import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import * as ai7 from 'ai';

class Chat5 extends ai5.AbstractChat<ai5.UIMessage> {}
class Chat6 extends ai6.AbstractChat<ai6.UIMessage> {}
class Chat7 extends ai7.AbstractChat<ai7.UIMessage> {}

const open5 = ({ place, id, messages = [] }: ChatSetup) =>
  new Chat5({
    id,
    state: chatState<ai5.UIMessage>(messages),
    transport: new ai5.DefaultChatTransport(plainTransport(place, 5)),
    sendAutomaticallyWhen: ai5.lastAssistantMessageIsCompleteWithToolCalls,
  });

const open6 = ({ place, id, messages = [] }: ChatSetup) =>
  new Chat6({
    id,
    state: chatState<ai6.UIMessage>(messages),
    transport: new ai6.DefaultChatTransport(plainTransport(place, 6)),
    sendAutomaticallyWhen: (chat) =>
      ai6.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
      ai6.lastAssistantMessageIsCompleteWithApprovalResponses(chat),
  });

const open7 = ({ place, id, messages = [] }: ChatSetup) =>
  new Chat7({
    id,
    state: chatState<ai7.UIMessage>(messages),
    transport: new ai7.DefaultChatTransport(plainTransport(place, 7)),
    sendAutomaticallyWhen: (chat) =>
      ai7.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
      ai7.lastAssistantMessageIsCompleteWithApprovalResponses(chat),
  });

const library = (open: OpenChat): Library => ({
  open: (place, id) => talkInChat(open, { place, id }),
});

testLibraries(['ai 5', 'ai 6', 'ai 7'], () =>
  Promise.resolve({
    'ai 5': {
      ...library(open5),
      lacks: { approval: 'no approvals; the app sends `toolResults` to our own API' },
    },
    'ai 6': library(open6),
    'ai 7': library(open7),
  }),
);
