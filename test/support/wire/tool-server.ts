import { randomUUID } from 'node:crypto';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { orderedCaller } from '#test/fakes/ordered-caller.ts';
import { appTool, countingTools } from '../tools/tool-world.ts';
import { createConversation } from '../chat/http-answers.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

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
