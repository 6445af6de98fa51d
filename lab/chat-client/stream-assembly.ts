import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import {
  FRAME_IDS_PER_ATTEMPT,
  firstFrameId,
  highestFrameId,
} from '#shared/conversation/frame-ids.ts';

/** Frames that close a turn: those of one that its producer did not end stand at the end of its range. */
const MOST_CLOSING_FRAMES = 8;

const chunkSchema = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  delta: z.string().optional(),
  data: z
    .looseObject({
      kind: z.string().optional(),
      dropParts: z.array(z.string()).optional(),
      thresholdTokens: z.number().nullish(),
    })
    .optional(),
  messageMetadata: z
    .looseObject({
      generation: z.number().optional(),
      usage: z.looseObject({ promptTokens: z.number() }).optional(),
    })
    .optional(),
});

/** One event of a stream; those of a stream that broke have no id. */
export interface StreamEvent {
  id: number | undefined;
  data: string;
}

const attemptOf = (id: number) => Math.floor(id / FRAME_IDS_PER_ATTEMPT) + 1;

/**
 * The answer as an app has it that goes on after every cut: text by part, from frames of several
 * connections. Notes in `problems` what the wire does not allow: ids that do not rise, frames that come
 * twice or are left out, parts that begin twice or not at all.
 */
export class StreamAssembly {
  readonly problems: string[] = [];
  lastId: number | undefined;
  restarts = 0;
  /** The last frame came. */
  isFinished = false;
  hasFailed = false;
  /** `[DONE]` came: the connection ended in order. */
  isDone = false;
  /** Of the context that the model saw. */
  generation = 0;
  promptTokens: number | undefined;
  thresholdTokens: number | undefined;
  readonly #parts = new Map<string, string>();
  /** The attempt of which this connection may join deltas, so that ids jump. */
  #joinedAttempt: number | undefined;

  get text(): string {
    return [...this.#parts.values()].join('');
  }

  /** A connection begins: after frame `cursor`, or without one from the first frame, and then all anew. */
  connect(cursor: number | undefined): void {
    this.#joinedAttempt = undefined;
    this.isDone = false;
    if (cursor !== undefined) return;
    this.#parts.clear();
    this.lastId = undefined;
  }

  take({ id, data }: StreamEvent): void {
    if (data === '[DONE]') {
      this.isDone = true;
      return;
    }
    const chunk = chunkSchema.parse(JSON.parse(data));
    if (id !== undefined) this.#count(id, chunk.type);
    this.#apply(chunk);
  }

  #count(id: number, type: string): void {
    const { lastId } = this;
    const attempt = attemptOf(id);
    if (this.isFinished) this.problems.push(`frame ${id} (${type}) came after the finish`);
    if (lastId !== undefined && id <= lastId)
      this.problems.push(`frame ${id} (${type}) came after frame ${lastId}`);
    const isNew = lastId === undefined || attemptOf(lastId) < attempt;
    if (isNew) {
      this.#joinedAttempt = attempt;
      if (id !== firstFrameId(attempt))
        this.problems.push(`attempt ${attempt} began with frame ${id} (${type})`);
    }
    const isJump = !isNew && id > lastId + 1;
    const isEnd = id > highestFrameId(attempt) - MOST_CLOSING_FRAMES;
    if (isJump && this.#joinedAttempt !== attempt && !isEnd)
      this.problems.push(`frame ${id} (${type}) came where ${lastId + 1} was due`);
    this.lastId = Math.max(id, lastId ?? 0);
  }

  #apply(chunk: z.infer<typeof chunkSchema>): void {
    const { type, id = '', delta = '', data, messageMetadata } = chunk;
    switch (type) {
      case 'start':
        this.generation = messageMetadata?.generation ?? 0;
        return;
      case 'data-context':
        this.thresholdTokens = data?.thresholdTokens ?? undefined;
        return;
      case 'text-start':
        if (this.#parts.has(id)) this.problems.push(`part ${id} began twice`);
        this.#parts.set(id, '');
        return;
      case 'text-delta':
        if (!this.#parts.has(id)) this.problems.push(`part ${id} goes on and has not begun`);
        this.#parts.set(id, `${this.#parts.get(id) ?? ''}${delta}`);
        return;
      case 'data-notice':
        if (data?.kind !== 'restarted') return;
        this.restarts += 1;
        for (const part of data.dropParts ?? []) this.#parts.delete(part);
        return;
      case 'error':
        this.hasFailed = true;
        return;
      case 'finish':
        this.isFinished = true;
        this.promptTokens = messageMetadata?.usage?.promptTokens;
        return;
      default:
        // The format allows further chunks.
        return;
    }
  }
}

/** The events of a stream as they come. Throws when the connection is cut. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }));
  for await (const { id, data } of events)
    yield { id: id === undefined ? undefined : Number(id), data };
}
