import { z } from 'zod';
import { askerRow, type Question } from '../asker.ts';
import { none, type Place, type Row } from '../columns.ts';
import * as texts from '../texts.ts';
import { load } from './load.ts';

interface Result {
  finalOutput?: unknown;
}

interface Streamed extends Result {
  toTextStream: () => AsyncIterable<string>;
  completed: Promise<void>;
}

interface Runner {
  run: (agent: object, input: unknown, options: object) => Promise<Result & Streamed>;
}

interface Agents {
  Agent: new (options: object) => object;
  Runner: new (options: object) => Runner;
  OpenAIProvider: new (options: object) => object;
  tool: (options: object) => object;
}

const { Agent, Runner, OpenAIProvider, tool } = await load<Agents>(
  import.meta.resolve('@openai/agents'),
);
const runnerAt = ({ url, token }: Place) =>
  new Runner({
    modelProvider: new OpenAIProvider({ baseURL: `${url}/v1/openai`, apiKey: token }),
    tracingDisabled: true,
  });

const agentWith = (more: object = {}) => new Agent({ name: 'Guide', model: 'recap', ...more });

/** With a conversation of the server, an agent is told what is new alone. */
function inputOf({ messages, image }: Question): unknown {
  const text = messages.at(-1)?.content ?? '';
  if (image === undefined) return text;
  const content = [
    { type: 'input_text', text },
    { type: 'input_image', image },
  ];
  return [{ role: 'user', content }];
}

const textOf = (output: unknown): string => (typeof output === 'string' ? output : '');

async function ask(place: Place, question: Question): Promise<string> {
  const { conversationId, onText, signal } = question;
  const options = { conversationId, ...(signal && { signal }) };
  const runner = runnerAt(place);
  if (onText === undefined)
    return textOf((await runner.run(agentWith(), inputOf(question), options)).finalOutput);
  const result = await runner.run(agentWith(), inputOf(question), { ...options, stream: true });
  for await (const piece of result.toTextStream()) onText(piece);
  await result.completed;
  return textOf(result.finalOutput);
}

async function askWithTool(place: Place, conversationId: string, execute: () => object) {
  const { name, description } = texts.locateTool;
  const locate = tool({ name, description, parameters: z.object({}), execute });
  const agent = agentWith({ tools: [locate] });
  const { finalOutput } = await runnerAt(place).run(agent, texts.LOCATE, { conversationId });
  return textOf(finalOutput);
}

async function askForPet(place: Place, conversationId: string, text: string): Promise<unknown> {
  const agent = agentWith({ outputType: z.object({ name: z.string() }) });
  return (await runnerAt(place).run(agent, text, { conversationId })).finalOutput;
}

const noEdit = none('with a conversation an agent sends what is new alone; our own API edits');

export const rows: Readonly<Record<string, Row>> = {
  '@openai/agents': {
    ...askerRow({ ask, askWithTool, askForPet }),
    edit: noEdit,
    regenerate: noEdit,
  },
};
