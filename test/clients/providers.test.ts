import { z } from 'zod';
import { noEdit, noReload, talkByAsking, type Asker, type Question } from './asked.ts';
import * as talk from './talk.ts';
import type { Library, Place } from './talk.ts';
import { load, testLibraries } from './test-libraries.ts';

const { name, description, parameters } = talk.locateTool;
const lastOf = ({ messages }: Question): string => messages.at(-1)?.content ?? '';

interface Run {
  finalOutput?: unknown;
  toTextStream: () => AsyncIterable<string>;
  completed: Promise<void>;
}

interface Agents {
  Agent: new (options: object) => object;
  Runner: new (options: object) => {
    run: (agent: object, input: unknown, options: object) => Promise<Run>;
  };
  OpenAIProvider: new (options: object) => object;
  tool: (options: object) => object;
}

/** With a conversation of the server, an agent is told what is new alone. */
const agents =
  ({ Agent, Runner, OpenAIProvider, tool }: Agents) =>
  ({ url, token }: Place): Asker => {
    const modelProvider = new OpenAIProvider({ baseURL: `${url}/v1/openai`, apiKey: token });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const agentWith = (more: object = {}) => new Agent({ name: 'Guide', model: 'recap', ...more });
    const run = async (agent: object, text: unknown, conversationId: string) =>
      (await runner.run(agent, text, { conversationId })).finalOutput;
    const zodOf = z.object({ name: z.string() });
    return {
      ask: async (question) => {
        const { conversationId, onText, signal, png } = question;
        const content = [
          { type: 'input_text', text: lastOf(question) },
          { type: 'input_image', image: talk.pngUrl(png ?? '') },
        ];
        const input = png === undefined ? lastOf(question) : [{ role: 'user', content }];
        if (onText === undefined) return String(await run(agentWith(), input, conversationId));
        const options = { conversationId, stream: true, ...(signal && { signal }) };
        const result = await runner.run(agentWith(), input, options);
        for await (const piece of result.toTextStream()) onText(piece);
        await result.completed;
        return String(result.finalOutput);
      },
      askForPet: (question) =>
        run(agentWith({ outputType: zodOf }), lastOf(question), question.conversationId),
      callTool: async (conversationId, execute) => {
        const locate = tool({ name, description, parameters: z.object({}), execute });
        const agent = agentWith({ tools: [locate] });
        return String(await run(agent, talk.LOCATE, conversationId));
      },
    };
  };

interface LangChainMessage {
  text: string;
  tool_calls?: { id?: string }[];
}

interface LangChainModel {
  invoke: (messages: readonly unknown[], options?: object) => Promise<LangChainMessage>;
  stream: (
    messages: readonly unknown[],
    options?: object,
  ) => Promise<AsyncIterable<LangChainMessage>>;
  bindTools: (tools: readonly object[]) => LangChainModel;
  withStructuredOutput: (
    schema: object,
    options: object,
  ) => { invoke: (text: string) => Promise<unknown> };
}

interface LangChain {
  ChatOpenAI: new (options: object) => LangChainModel;
}

const langChain =
  ({ ChatOpenAI }: LangChain) =>
  ({ url, token }: Place, conversationId: string): Asker => {
    const defaultHeaders = { 'X-Conversation-Id': conversationId };
    const configuration = { baseURL: `${url}/v1/openai`, defaultHeaders };
    const model = new ChatOpenAI({ model: 'recap', apiKey: token, maxRetries: 0, configuration });
    return {
      ask: async (question) => {
        const { messages, onText, signal, png, key } = question;
        const content = [
          { type: 'text', text: lastOf(question) },
          { type: 'image_url', image_url: { url: talk.pngUrl(png ?? '') } },
        ];
        const all = png === undefined ? messages : [{ role: 'user', content }];
        const headers = { 'Idempotency-Key': key };
        const options = { options: { headers }, ...(signal && { signal }) };
        if (onText === undefined) return (await model.invoke(all, options)).text;
        let answer = '';
        for await (const { text } of await model.stream(all, options)) {
          answer += text;
          if (text !== '') onText(text);
        }
        return answer;
      },
      askForPet: (question) =>
        model
          .withStructuredOutput({ title: 'pet', ...talk.petSchema }, { method: 'jsonSchema' })
          .invoke(lastOf(question)),
      callTool: async (_, locate) => {
        const tool = { type: 'function', function: { name, description, parameters } };
        const withTool = model.bindTools([tool]);
        const question = { role: 'user', content: talk.LOCATE };
        const called = await withTool.invoke([question]);
        const results = (called.tool_calls ?? []).map(({ id }) => ({
          role: 'tool',
          tool_call_id: id,
          content: JSON.stringify(locate()),
        }));
        return (await withTool.invoke([question, called, ...results])).text;
      },
    };
  };

interface Ai {
  generateText: (options: object) => Promise<{ text: string; output: unknown }>;
  streamText: (options: object) => { textStream: AsyncIterable<string> };
  Output: { object: (options: object) => object };
  jsonSchema: (schema: object) => object;
  isStepCount: (count: number) => object;
  tool: (options: object) => object;
}

/** What is given to `generateText` beside the messages. */
type Settings = (place: Place, conversationId: string) => object;

/** `last`: the server keeps the history, and the app sends what is new. */
const provider =
  (ai: Ai, settings: Settings, sent: 'all' | 'last') =>
  (place: Place, conversationId: string): Asker => {
    const common = { ...settings(place, conversationId), maxRetries: 0 };
    return {
      ask: async (question) => {
        const { onText, signal, png } = question;
        const content = [
          { type: 'text', text: lastOf(question) },
          { type: 'file', data: new URL(talk.pngUrl(png ?? '')), mediaType: 'image/png' },
        ];
        const asked = sent === 'all' ? question.messages : question.messages.slice(-1);
        const messages = png === undefined ? asked : [{ role: 'user', content }];
        const request = { ...common, messages, ...(signal && { abortSignal: signal }) };
        if (onText === undefined) return (await ai.generateText(request)).text;
        let failure: unknown;
        const onError = ({ error }: { error: unknown }) => void (failure ??= error);
        let answer = '';
        for await (const piece of ai.streamText({ ...request, onError }).textStream) {
          answer += piece;
          onText(piece);
        }
        if (failure !== undefined) throw failure;
        return answer;
      },
      askForPet: async (question) => {
        const output = ai.Output.object({ schema: ai.jsonSchema(talk.petSchema) });
        return (await ai.generateText({ ...common, prompt: lastOf(question), output })).output;
      },
      callTool: async (_, execute) => {
        const inputSchema = ai.jsonSchema(parameters);
        const locate = ai.tool({ description, inputSchema, execute });
        const stopWhen = ai.isStepCount(3);
        const request = { ...common, prompt: talk.LOCATE, tools: { locate }, stopWhen };
        return (await ai.generateText(request)).text;
      },
    };
  };

type Create = (options: object) => (modelId: string) => object;

/** The three providers of the AI SDK that speak a protocol of OpenAI's. */
async function providerSettings() {
  const { createOpenAI } = await load<{ createOpenAI: Create }>('@ai-sdk/openai');
  const { createOpenAICompatible } = await load<{ createOpenAICompatible: Create }>(
    '@ai-sdk/openai-compatible',
  );
  const { createOpenResponses } = await load<{ createOpenResponses: Create }>(
    '@ai-sdk/open-responses',
  );
  const openai: Settings = ({ url, token }, conversation) => ({
    model: createOpenAI({ baseURL: `${url}/v1/openai`, apiKey: token })('recap'),
    providerOptions: { openai: { conversation } },
  });
  const compatible: Settings = ({ url, token }, conversationId) => ({
    model: createOpenAICompatible({
      name: 'recap',
      baseURL: `${url}/v1/openai`,
      apiKey: token,
      headers: { 'X-Conversation-Id': conversationId },
      supportsStructuredOutputs: true,
    })('recap'),
  });
  const openResponses: Settings = ({ url, token }) => ({
    model: createOpenResponses({ name: 'recap', url: `${url}/v1/responses`, apiKey: token })(
      'recap',
    ),
  });
  return { openai, compatible, openResponses };
}

const library = (
  asker: (place: Place, conversationId: string) => Asker,
  lacks: Library['lacks'] = {},
): Library => ({
  open: (place, id) => talkByAsking(asker, place, id),
  lacks: { reload: noReload, ...lacks },
});

const stateless =
  'the library names no conversation, and the server refuses a whole dialogue: each message begins a conversation';

testLibraries(
  [
    '@openai/agents',
    '@langchain/openai',
    '@ai-sdk/openai',
    '@ai-sdk/openai-compatible',
    '@ai-sdk/open-responses',
  ],
  async () => {
    const ai = await load<Ai>('ai');
    const { openai, compatible, openResponses } = await providerSettings();
    return {
      '@openai/agents': library(agents(await load('@openai/agents')), {
        edit: noEdit,
        regenerate: noEdit,
      }),
      '@langchain/openai': library(langChain(await load('@langchain/openai'))),
      '@ai-sdk/openai': library(provider(ai, openai, 'last'), { edit: noEdit, regenerate: noEdit }),
      '@ai-sdk/openai-compatible': library(provider(ai, compatible, 'all')),
      '@ai-sdk/open-responses': library(provider(ai, openResponses, 'all'), {
        'second tab': stateless,
        edit: stateless,
        regenerate: stateless,
      }),
    };
  },
  { isInstalled: true },
);
