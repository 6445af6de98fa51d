import type { Chat, ChatSetup } from '../chat.ts';
import { plainTransport } from '../chat.ts';
import { chatRow } from '../chat-row.ts';
import type { Row } from '../columns.ts';
import { until } from '../observe.ts';
import { render } from './browser.ts';
import { load } from './load.ts';

interface Ai {
  DefaultChatTransport: new (options: object) => object;
  lastAssistantMessageIsCompleteWithToolCalls: (chat: object) => boolean;
  lastAssistantMessageIsCompleteWithApprovalResponses: (chat: object) => boolean;
}

const ai = await load<Ai>(import.meta.resolve('ai'));
const { useChat } = await load<{ useChat: (options: object) => Chat }>(
  import.meta.resolve('@ai-sdk/react'),
);

/** The chat as the component that has rendered last got it from the hook. */
async function open({ place, id, messages = [] }: ChatSetup): Promise<Chat> {
  let last: Chat | undefined;
  const transport = new ai.DefaultChatTransport(plainTransport(place));
  const sendAutomaticallyWhen = (chat: object) =>
    ai.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
    ai.lastAssistantMessageIsCompleteWithApprovalResponses(chat);
  render(() => {
    last = useChat({ id, messages, transport, sendAutomaticallyWhen });
    return null;
  });
  const first = await until('the hook has rendered', () => last);
  const now = () => last ?? first;
  return {
    get messages() {
      return now().messages;
    },
    get status() {
      return now().status;
    },
    get error() {
      return now().error;
    },
    sendMessage: (message, options) => now().sendMessage(message, options),
    regenerate: () => now().regenerate(),
    resumeStream: () => now().resumeStream(),
    stop: () => now().stop(),
    addToolOutput: (given) => now().addToolOutput(given),
    addToolApprovalResponse: (given) => now().addToolApprovalResponse?.(given),
  };
}

export const rows: Readonly<Record<string, Row>> = { '@ai-sdk/react': chatRow(open) };
