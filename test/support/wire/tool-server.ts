import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import {
  contentText,
  hasFunctionResponse,
  type Content,
  type Part,
} from '#shared/models/content.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { createConversation } from '#test/support/chat/chat-server.ts';
import { appTool, countingTools, withoutTold } from '#test/support/tools/tool-world.ts';
import { startWireServer, type WireServer } from './wire-server.ts';
import { randomUUID } from 'node:crypto';

const callLine = /^call (\w+) ?(\{.*\})?$/;

function partOf(line: string): Part {
  const [, name, args = '{}'] = callLine.exec(line) ?? [];
  return name === undefined ? { text: line } : { functionCall: { name, args: JSON.parse(args) } };
}

const isQuestion = (content: Content) => content.role === 'user' && !hasFunctionResponse(content);

/**
 * A model that does what the user's message orders, round by round: its lines, parted by `then`, are said, and
 * those of the form `call name {…}` are calls.
 */
const orderedCaller: ModelStreamer = {
  stream: async function* ({ contents }) {
    const asked = contents.findLastIndex(isQuestion);
    const question = contents[asked];
    const round = contents.slice(asked).filter(hasFunctionResponse).length;
    const lines =
      (question ? contentText(withoutTold(question)) : '').split('\nthen\n')[round] ?? 'Done.';
    for (const line of lines.split('\n')) yield await Promise.resolve({ parts: [partOf(line)] });
    const usage = { promptTokens: 10, cachedTokens: 0, outputTokens: 2, thoughtsTokens: 0 };
    yield { parts: [], finishReason: 'STOP', usage };
  },
};

/** The chat function with tools, and a model that calls them as it is told. */
export const startToolServer = (environment: Record<string, string> = {}): Promise<WireServer> =>
  startWireServer({
    overrides: { model: orderedCaller, toolbox: createToolbox(countingTools().tools) },
    environment: { CLIENT_WRITABLE: 'tools', ...environment },
  });

/** A new conversation of alice whose app runs `locate` and `choose`. */
export async function conversationWithTools(server: WireServer): Promise<string> {
  const id = randomUUID();
  await createConversation(server, { body: { id, tools: ['locate', 'choose'].map(appTool) } });
  return id;
}
