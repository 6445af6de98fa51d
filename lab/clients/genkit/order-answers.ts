import { createHash } from 'node:crypto';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { ModelPart, StepOfType } from './agent-cases.ts';

/** What the agent that fails says in Genkit's documents. */
const FAILURE_MESSAGE = 'intentional failure';

type Ordered = Pick<StepOfType<'send'>, 'modelResponses' | 'streamChunks'>;

const isCall = (part: ModelPart) => 'toolRequest' in part;

const toRequestPart = (part: ModelPart) =>
  'text' in part
    ? { text: part.text }
    : {
        functionCall: {
          id: part.toolRequest.ref,
          name: part.toolRequest.name,
          args: part.toolRequest.input ?? {},
        },
      };

/** What the model says at each of its calls, and what it says in pieces. */
const saidParts = ({ modelResponses, streamChunks }: Ordered): ModelPart[][] =>
  modelResponses.map(
    ({ message }, index) =>
      streamChunks?.[index]?.flatMap(({ content }) => content) ?? message.content,
  );

/** Gives each text the answers of its turn: those with calls, and the one that ends it. */
function shareOut(texts: readonly string[], said: readonly ModelPart[][]) {
  const left = [...said];
  return texts.map((text) => {
    const end = left.findIndex((parts) => !parts.some(isCall));
    return { text, answers: left.splice(0, end < 0 ? left.length : end + 1) };
  });
}

/**
 * Orders the model's answers to messages with these texts, from the next call on. Returns the case's names of the
 * calls in them, by text.
 */
export function orderAnswers(fakeGemini: FakeGemini, texts: readonly string[], ordered: Ordered) {
  fakeGemini.clearAnswers();
  const shares = shareOut(texts, saidParts(ordered));
  for (const { text, answers } of shares) {
    const userHash = createHash('sha256').update(text).digest('hex');
    const recorded = answers.map((parts, index) => ({
      userHash,
      ordinal: index + 1,
      contents: [{ role: 'model', parts: parts.map(toRequestPart) }],
    }));
    fakeGemini.registerAnswers(...recorded);
  }
  return new Map(shares.map(({ text, answers }) => [text, answers.flatMap(refsIn)]));
}

const refsIn = (parts: readonly ModelPart[]): string[] =>
  parts.flatMap((part) => ('toolRequest' in part ? [part.toolRequest.ref] : []));

/** Whether the case says how the answer comes in pieces. */
export const isStreamed = ({ streamChunks }: { streamChunks?: unknown[][] | undefined }) =>
  streamChunks !== undefined;

/** Lets the model do what the code of the agent does: fail, or do nothing until it is stopped. */
export function orderBehaviour(fakeGemini: FakeGemini, agent: string): string | undefined {
  fakeGemini.clearFaults();
  if (agent === 'customAgentBlocking') {
    fakeGemini.queueFaults({ kind: 'hang', times: 100 });
    return 'the agent that blocks is a model that does not answer';
  }
  if (agent === 'customAgentFailing') {
    const refusal = { code: 400, status: 'FAILED_PRECONDITION', message: FAILURE_MESSAGE };
    fakeGemini.queueFaults({ kind: 'http', ...refusal, times: 100 });
    return 'the agent that fails is a model that refuses';
  }
  return undefined;
}
