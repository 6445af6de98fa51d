import type { Tool } from '../api.ts';
import type { StoredMessage } from '../wire/wire.ts';

type OpenCall = NonNullable<StoredMessage['openCalls']>[number];

/** Of an error's message, characters: what the API takes. */
const ERROR_MAX = 1_000;

async function runTool(
  tools: Readonly<Record<string, Tool>>,
  conversationId: string,
  { callId, name, args }: OpenCall,
) {
  const tool = tools[name];
  if (!tool) return { callId, error: `This version of the app has no tool ${name}.` };
  try {
    const output = await tool(args, { conversationId, callId });
    return { callId, output: output ?? null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { callId, error: message.slice(0, ERROR_MAX) || 'The tool failed.' };
  }
}

/** What the tools of the app gave, for all calls; one that throws tells so. */
export const runTools = (
  tools: Readonly<Record<string, Tool>>,
  conversationId: string,
  calls: readonly OpenCall[],
): Promise<object[]> => Promise.all(calls.map((call) => runTool(tools, conversationId, call)));
