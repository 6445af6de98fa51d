import { z } from 'zod';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import type { ServerTool } from '#functions/chat/turns/tools/server-tool.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { startFakeGemini, type FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';

/** A case's own service: nothing of another case is in it. */
export interface CaseWorld {
  server: ChatServer;
  fakeGemini: FakeGemini;
  agent: string;
  /** Calls of server tools so far, as `name {"argument":1}`. */
  toolRuns: readonly string[];
  /** What the case's words for things are here, noted for who reads the table. */
  translations: Set<string>;
  /** Of each snapshot: the client's message, its text, and the case's names of its calls in order. */
  snapshots: Map<string, KnownSnapshot>;
  stop(): Promise<void>;
}

interface KnownSnapshot {
  messageId: string;
  text: string;
  refs: string[];
}

const TOOL_TIMEOUT_MS = 5_000;
/** No answer of a server on this machine takes as long. */
const PATIENCE_MS = 60_000;

/** The functions of the agents that the service runs itself, as Genkit's documents describe them. */
function serverTools(runs: string[]): ServerTool[] {
  const shared = { timeoutMs: TOOL_TIMEOUT_MS };
  const note = (name: string, args: object) => void runs.push(`${name} ${JSON.stringify(args)}`);
  return [
    {
      ...shared,
      name: 'testTool',
      description: 'A simple tool.',
      parameters: z.object({}),
      run: (args) => {
        note('testTool', args);
        return Promise.resolve({ output: 'tool called' });
      },
    },
    {
      ...shared,
      name: 'restartTool',
      description: 'A tool that asks before it runs.',
      parameters: z.object({ action: z.string() }),
      needsApproval: () => true,
      run: (args) => {
        note('restartTool', args);
        return Promise.resolve({ result: `confirmed: ${String(args['action'])}` });
      },
    },
  ];
}

/** Which of them an agent has. */
const toolNames: Readonly<Record<string, string>> = {
  promptAgentWithTools: 'testTool',
  promptAgentWithRestartTool: 'restartTool',
};

/** The function that the app runs: a call of it waits for the app. */
const interruptTool = {
  name: 'interruptTool',
  description: 'Asks the user.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string' } },
    required: ['query'],
  },
};

/** Functions of the app that an agent has. */
export const appTools = (agent: string): (typeof interruptTool)[] =>
  agent === 'promptAgentWithInterrupt' ? [interruptTool] : [];

/** Starts the function that apps call, with a model whose answers a case orders. */
export async function startCaseWorld(agent: string): Promise<CaseWorld> {
  const fakeGemini = await startFakeGemini();
  const model = createGeminiModel({
    apiKey: 'local',
    baseUrl: fakeGemini.url,
    firstEventTimeoutMs: PATIENCE_MS,
    eventIdleTimeoutMs: PATIENCE_MS,
    requestTimeoutMs: PATIENCE_MS,
  });
  const toolRuns: string[] = [];
  const tools = serverTools(toolRuns).filter(({ name }) => toolNames[agent] === name);
  const server = await startChatServer({
    overrides: { model, toolbox: createToolbox(tools) },
    environment: { CLIENT_WRITABLE: 'tools' },
  });
  return {
    server,
    fakeGemini,
    agent,
    toolRuns,
    translations: new Set(tools.length > 0 ? ['the tool is one of the server'] : []),
    snapshots: new Map(),
    stop: async () => {
      // First the model: a turn that waits for it would keep the server.
      await fakeGemini.close();
      await server.stop();
    },
  };
}
