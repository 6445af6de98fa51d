import type { AiSdkModel } from '#functions/app.ts';
import { ABORT_REASON } from '#functions/lib/async-iterators.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type { Content, Part } from '#shared/models/content.ts';
import type { AppError } from '#shared/lib/errors.ts';
import type {
  ModelChunk,
  ModelGenerator,
  ModelRequest,
  ModelResponse,
  ModelStreamer,
  ModelUsage,
  TokenCounter,
} from '#shared/ports/ports.ts';
import { createAttemptTimeout } from './attempt-timeout.ts';
import {
  type ModelCall,
  overloadedError,
  translateError,
  translateHttpError,
} from './model-errors.ts';
import { z } from 'zod';

/* A language model of the AI SDK's provider interface, as the ports know models. */

/** Versions of the interface that are read. */
const SPECIFICATIONS = ['v3', 'v4'];

// What is sent

type Message = Readonly<Record<string, unknown>>;

const FILE_DATA = 'file';

function filePart({ inlineData, fileData }: Part, specification: string): Message | undefined {
  if (inlineData) {
    const { mimeType: mediaType, data } = inlineData;
    return {
      type: FILE_DATA,
      mediaType,
      data: specification === 'v3' ? data : { type: 'data', data },
    };
  }
  if (!fileData) return undefined;
  const { mimeType: mediaType = 'application/octet-stream', fileUri } = fileData;
  const url = new URL(fileUri);
  return { type: FILE_DATA, mediaType, data: specification === 'v3' ? url : { type: 'url', url } };
}

const optionsSchema = z.record(z.string(), z.record(z.string(), z.unknown()));

/** What a provider wants back with a part, as `signature` keeps it. That of another model says nothing to this one. */
function providerOptions({ thoughtSignature }: Part): { providerOptions?: unknown } {
  if (thoughtSignature === undefined) return {};
  try {
    return { providerOptions: optionsSchema.parse(JSON.parse(thoughtSignature)) };
  } catch {
    return {};
  }
}

/** A call that has no response yet. */
interface OpenCall {
  id: string;
  name: string;
}

/** Contents as messages. A response belongs to the call of its id, else to the oldest open one of its name. */
function toMessages(contents: readonly Content[], specification: string): Message[] {
  const messages: Message[] = [];
  const open: OpenCall[] = [];
  let calls = 0;
  const resultOf = ({ functionResponse }: Part): Message | undefined => {
    if (!functionResponse) return undefined;
    const { id, name, response = {} } = functionResponse;
    const at = open.findIndex((call) => (id === undefined ? call.name === name : call.id === id));
    const [call] = at < 0 ? [] : open.splice(at, 1);
    return (
      call && {
        type: 'tool-result',
        toolCallId: call.id,
        toolName: call.name,
        output: { type: 'json', value: response },
      }
    );
  };
  const ofModel = (part: Part): Message | undefined => {
    const { text, thought, functionCall } = part;
    if (functionCall) {
      const { id = `call-${++calls}`, name, args = {} } = functionCall;
      open.push({ id, name });
      return {
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input: args,
        ...providerOptions(part),
      };
    }
    if (thought === true) {
      const options = providerOptions(part);
      return options.providerOptions === undefined
        ? undefined
        : { type: 'reasoning', text: text ?? '', ...options };
    }
    if (text !== undefined && text !== '') return { type: 'text', text };
    return filePart(part, specification);
  };
  const ofUser = (part: Part): Message | undefined =>
    part.text === undefined
      ? filePart(part, specification)
      : part.text === ''
        ? undefined
        : { type: 'text', text: part.text };
  const push = (role: string, content: readonly (Message | undefined)[]) => {
    const parts = content.filter((part) => part !== undefined);
    if (parts.length > 0) messages.push({ role, content: parts });
  };
  for (const { role, parts } of contents)
    if (role === 'model') push('assistant', parts.map(ofModel));
    else {
      push('tool', parts.map(resultOf));
      push('user', parts.filter(({ functionResponse }) => !functionResponse).map(ofUser));
    }
  return messages;
}

function toToolChoice({ toolChoice }: ModelRequest) {
  if (toolChoice === undefined) return {};
  return {
    toolChoice:
      typeof toolChoice === 'string'
        ? { type: toolChoice }
        : { type: 'tool', toolName: toolChoice.name },
  };
}

/** The options of a call. Google's own tools are left out: other models have none. */
function toOptions(
  request: ModelRequest,
  specification: string,
  abortSignal: AbortSignal,
): Message {
  const { systemInstruction, tools = [], contents, sampling = {}, responseJsonSchema } = request;
  const { thinkingLevel, ...drawing } = sampling;
  return {
    prompt: [
      ...(systemInstruction === undefined ? [] : [{ role: 'system', content: systemInstruction }]),
      ...toMessages(contents, specification),
    ],
    abortSignal,
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
    ...drawing,
    ...(thinkingLevel !== undefined && specification !== 'v3' && { reasoning: thinkingLevel }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parametersJsonSchema }) => ({
        type: 'function',
        name,
        ...(description !== undefined && { description }),
        inputSchema: parametersJsonSchema ?? { type: 'object', properties: {} },
      })),
      ...toToolChoice(request),
    }),
    ...(responseJsonSchema !== undefined && {
      responseFormat: { type: 'json', schema: responseJsonSchema },
    }),
  };
}

// What comes back

const count = z.number().nullish();
const usageSchema = z.looseObject({
  inputTokens: z.looseObject({ total: count, cacheRead: count }),
  outputTokens: z.looseObject({ total: count, text: count, reasoning: count }),
});

function toUsage(given: unknown): { usage?: ModelUsage } {
  const { data } = usageSchema.safeParse(given);
  if (!data) return {};
  const { inputTokens: input, outputTokens: output } = data;
  const thoughtsTokens = output.reasoning ?? 0;
  return {
    usage: {
      promptTokens: input.total ?? 0,
      cachedTokens: input.cacheRead ?? 0,
      outputTokens: output.text ?? Math.max(0, (output.total ?? 0) - thoughtsTokens),
      thoughtsTokens,
    },
  };
}

const finishReasons = new Map([
  ['stop', 'STOP'],
  ['tool-calls', 'STOP'],
  ['length', 'MAX_TOKENS'],
  ['content-filter', 'SAFETY'],
]);

const finishSchema = z.looseObject({ unified: z.string() });

/** Throws MODEL_OVERLOADED where the model says that it failed. */
function toFinish(call: ModelCall, given: Readonly<Record<string, unknown>>): ModelChunk {
  const { unified = 'other' } = finishSchema.safeParse(given['finishReason']).data ?? {};
  if (unified === 'error') throw overloadedError(call, 'the model ended with an error');
  return {
    parts: [],
    finishReason: finishReasons.get(unified) ?? 'OTHER',
    ...toUsage(given['usage']),
  };
}

const metadata = z.record(z.string(), z.unknown()).optional();
const argumentsSchema = z.record(z.string(), z.unknown());
const calledSchema = z.looseObject({
  type: z.literal('tool-call'),
  toolCallId: z.string(),
  toolName: z.string(),
  input: z.string(),
  providerMetadata: metadata,
});
const textSchema = z.looseObject({ text: z.string(), providerMetadata: metadata });
const deltaSchema = z.looseObject({ delta: z.string() });
const thoughtSchema = z.looseObject({
  id: z.string(),
  delta: z.string().default(''),
  providerMetadata: metadata,
});
const fileSchema = z.looseObject({ mediaType: z.string(), data: z.unknown() });

/** Kept with a part where the provider wants it back; a signature in Gemini's words. */
const signature = (providerMetadata: Readonly<Record<string, unknown>> | undefined) =>
  providerMetadata === undefined || Object.keys(providerMetadata).length === 0
    ? {}
    : { thoughtSignature: JSON.stringify(providerMetadata) };

/** Throws MODEL_OVERLOADED for arguments that are no JSON object. */
function toCall(call: ModelCall, given: unknown): Part {
  const { toolCallId: id, toolName: name, input, providerMetadata } = calledSchema.parse(given);
  try {
    const args = argumentsSchema.parse(JSON.parse(input === '' ? '{}' : input));
    return { functionCall: { id, name, args }, ...signature(providerMetadata) };
  } catch {
    throw overloadedError(call, 'the arguments of a call are no JSON object');
  }
}

function toFile(given: unknown): Part[] {
  const { mediaType: mimeType, data } = fileSchema.parse(given);
  const bytes = typeof data === 'object' && data !== null && 'data' in data ? data.data : data;
  if (typeof bytes === 'string') return [{ inlineData: { mimeType, data: bytes } }];
  return bytes instanceof Uint8Array
    ? [{ inlineData: { mimeType, data: Buffer.from(bytes).toString('base64') } }]
    : [];
}

/** A piece of an answer that comes whole. */
function toParts(call: ModelCall, given: { type: string }): Part[] {
  switch (given.type) {
    case 'text':
      return [{ text: textSchema.parse(given).text }];
    case 'reasoning': {
      const { text, providerMetadata } = textSchema.parse(given);
      return [{ text, thought: true, ...signature(providerMetadata) }];
    }
    case 'tool-call':
      return [toCall(call, given)];
    case 'file':
      return toFile(given);
    default:
      return [];
  }
}

const streamedSchema = z.looseObject({ type: z.string() });

/** A thought that has begun: what was thought so far, and the newest that the provider wants back with it. */
interface OpenThought {
  text: string;
  providerMetadata: z.infer<typeof metadata>;
}

/**
 * Events of one stream as chunks; undefined for one that says nothing. A provider says with any event of a thought what it
 * wants back, Anthropic with a delta, and wants the thought back whole: it comes again at its end, signed. Throws what an
 * event of an error tells.
 */
function createChunkReader(call: ModelCall): (event: unknown) => ModelChunk | undefined {
  const thoughts = new Map<string, OpenThought>();
  const toThought = (given: { type: string }): ModelChunk | undefined => {
    const { id, delta, providerMetadata } = thoughtSchema.parse(given);
    const before = thoughts.get(id);
    const thought: OpenThought = {
      text: (before?.text ?? '') + delta,
      providerMetadata: providerMetadata ?? before?.providerMetadata,
    };
    if (given.type === 'reasoning-end') {
      thoughts.delete(id);
      const kept = signature(thought.providerMetadata);
      return 'thoughtSignature' in kept
        ? { parts: [{ text: thought.text, thought: true, ...kept }] }
        : undefined;
    }
    thoughts.set(id, thought);
    return delta === '' ? undefined : { parts: [{ text: delta, thought: true }] };
  };
  return (event) => {
    const given = streamedSchema.parse(event);
    switch (given.type) {
      case 'text-delta':
        return { parts: [{ text: deltaSchema.parse(given).delta }] };
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return toThought(given);
      case 'finish':
        return toFinish(call, given);
      case 'error':
        throw errorOfStream(call, given['error']);
      default: {
        const parts = toParts(call, given);
        return parts.length === 0 ? undefined : { parts };
      }
    }
  };
}

const callErrorSchema = z.looseObject({
  statusCode: z.number(),
  responseHeaders: z.looseObject({ 'retry-after': z.string().optional() }).optional().catch({}),
});

/** How the errors of the AI SDK's providers read. */
function toAppError(call: ModelCall, error: unknown): AppError {
  const { data } = callErrorSchema.safeParse(error);
  if (!data) return translateError(call, error);
  const seconds = Number(data.responseHeaders?.['retry-after'] ?? Number.NaN);
  return translateHttpError(call, {
    httpStatus: data.statusCode,
    message: error instanceof Error ? error.message : '',
    ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1_000 }),
  });
}

/** The text of whatever a provider hands on of an error that its server told within a stream. */
function wordsOf(told: unknown): string {
  if (typeof told === 'string') return told;
  try {
    return JSON.stringify(told) ?? '';
  } catch {
    return '';
  }
}

/** An error that a stream tells: an Error as a call throws it, or the server's own words, which name no status. */
const errorOfStream = (call: ModelCall, told: unknown): AppError =>
  told instanceof Error
    ? toAppError(call, told)
    : translateHttpError(call, { httpStatus: 'in stream', message: wordsOf(told) });

interface AiSdkOptions {
  firstEventTimeoutMs: number;
  eventIdleTimeoutMs: number;
  requestTimeoutMs: number;
}

const generatedSchema = z.looseObject({ content: z.array(z.looseObject({ type: z.string() })) });
const openedSchema = z.looseObject({ stream: z.instanceof(ReadableStream) });

/** A call with options that were made for the version of the interface that the model has. */
const asCallOptions = (options: Message): never => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the interface is read by its schema
  return options as never;
};

/**
 * A model of the AI SDK as chat and worker ask models. Errors are those of the ports; nothing is tried again here, for the
 * turn and the compaction are. Tokens are estimated: the interface counts none. Throws Error for a version of the interface
 * that is not read.
 */
export function createAiSdkModel(
  model: AiSdkModel,
  options: AiSdkOptions,
): ModelStreamer & ModelGenerator & TokenCounter {
  const { specificationVersion: specification } = model;
  if (!SPECIFICATIONS.includes(specification))
    throw new Error(
      `fromAiSdk takes models of the interface ${SPECIFICATIONS.join(' or ')}; ${model.provider} ${model.modelId} has ${specification}. Install the newest version of its provider.`,
    );
  return {
    async *stream(request, signal) {
      const call: ModelCall = {
        operation: 'stream',
        model: request.model,
        promptId: request.promptId,
      };
      const timeout = createAttemptTimeout(call, signal);
      const toChunk = createChunkReader(call);
      let reader: ReadableStreamDefaultReader<unknown> | undefined;
      // A stream need not heed the signal that its call was given.
      const leave = () => void reader?.cancel(ABORT_REASON).catch(() => undefined);
      try {
        const open = async () => {
          const opened = openedSchema.parse(
            await model.doStream(asCallOptions(toOptions(request, specification, timeout.signal))),
          );
          const opening = (reader = opened.stream.getReader());
          if (timeout.signal.aborted) leave();
          const next = (): Promise<IteratorResult<unknown>> =>
            opening.read().then(({ done, value }) => ({ done, value }));
          return { events: { next }, first: await next() };
        };
        const { events, first } = await timeout.within(open(), {
          timeoutMs: options.firstEventTimeoutMs,
          waitedFor: 'the first event',
        });
        const others = timeout.each(events, {
          timeoutMs: options.eventIdleTimeoutMs,
          waitedFor: 'the next event',
        });
        for (let next = first; next.done !== true; next = await others.next()) {
          const chunk = toChunk(next.value);
          if (chunk) yield chunk;
          // The last event: an answer that is whole does not wait for its connection.
          if (chunk?.finishReason !== undefined) return;
        }
        throw overloadedError(call, 'the stream ended without a finish');
      } catch (error) {
        throw toAppError(call, error);
      } finally {
        timeout.release();
        leave();
      }
    },
    async generate(request, signal): Promise<ModelResponse> {
      const call: ModelCall = {
        operation: 'generate',
        model: request.model,
        promptId: request.promptId,
      };
      const timeout = createAttemptTimeout(call, signal);
      try {
        const asking = Promise.resolve(
          model.doGenerate(asCallOptions(toOptions(request, specification, timeout.signal))),
        );
        const answer = generatedSchema.parse(
          await timeout.within(asking, {
            timeoutMs: options.requestTimeoutMs,
            waitedFor: 'the answer',
          }),
        );
        const parts = answer.content.flatMap((piece) => toParts(call, piece));
        return { ...toFinish(call, answer), parts };
      } catch (error) {
        throw toAppError(call, error);
      } finally {
        timeout.release();
      }
    },
    countTokens: (prompt) => Promise.resolve(estimatePromptTokens(prompt, 'character-class')),
  };
}
