import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { TurnView } from '#shared/wire/resources/turns.ts';

/* What our API answers, in the words of Genkit. Pure. */

export interface GenkitMessage {
  role: string;
  content: object[];
}

type OutputPart = MessageView['parts'][number];

const statuses: Readonly<Record<TurnView['state'], string>> = {
  queued: 'pending',
  running: 'pending',
  awaiting_tool: 'completed',
  done: 'completed',
  failed: 'failed',
  cancelled: 'aborted',
};

export const toStatus = ({ state }: Pick<TurnView, 'state'>): string => statuses[state];

const finishReasons: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'blocked',
  'tool-calls': 'interrupted',
  error: 'failed',
};

export const toFinishReason = (reason: unknown): string => finishReasons[String(reason)] ?? 'other';

/** A tool's word that is no object is wrapped as `output` on its way through Gemini's API. */
export function unwrapOutput(response: unknown): unknown {
  const entries = typeof response === 'object' && response !== null ? Object.entries(response) : [];
  const [only] = entries;
  return entries.length === 1 && only?.[0] === 'output' ? only[1] : response;
}

const isResponse = ({ type }: OutputPart) => type === 'functionResponse';

/** A call's name in the case; calls of a turn are counted from 0. */
export function toRef(callId: unknown, refs: readonly string[]): string | undefined {
  const index = /_c(\d+)$/.exec(String(callId))?.[1];
  return index === undefined ? undefined : refs[Number(index)];
}

function translatePart(part: OutputPart, refs: readonly string[]): object {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'file':
      return { media: part };
    case 'functionCall':
      return {
        toolRequest: { name: part.name, input: part.args, ref: toRef(part.callId, refs) },
      };
    case 'functionResponse': {
      const output = unwrapOutput(part.response);
      return { toolResponse: { name: part.name, output, ref: toRef(part.callId, refs) } };
    }
  }
}

/** One answer of ours is a message of the model, or several with those of the tools between. */
export function toMessages({ role, parts }: MessageView, refs: readonly string[]): GenkitMessage[] {
  const messages: GenkitMessage[] = [];
  let before: OutputPart | undefined;
  for (const part of parts) {
    if (!before || isResponse(before) !== isResponse(part))
      messages.push({ role: isResponse(part) ? 'tool' : role, content: [] });
    messages.at(-1)?.content.push(translatePart(part, refs));
    before = part;
  }
  return messages;
}
