import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import { findCalls } from '#shared/conversation/context/tool-calls.ts';
import type { ToolResult } from '#shared/conversation/context/tool-results.ts';
import { modelThatAnswered } from '#shared/conversation/context/turn-model.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import { sentPrompt, signaturesIn, unpaired } from './prompt-checks.ts';
import type { ToolStage } from './tool-stage.ts';

/** What was done in all runs: a search that reaches nothing proves nothing. */
export type Reached = Map<string, number>;

/** One conversation of the search. */
export interface Run {
  stage: ToolStage;
  fakeGemini: FakeGemini;
  reached: Reached;
  /** Texts of the messages that were taken, by their ids. */
  said: Map<string, string>;
  last?: { turnId: string; results: ToolResult[] };
}

export const note = ({ reached }: Run, what: string) =>
  reached.set(what, (reached.get(what) ?? 0) + 1);

/** All turns, the oldest first. */
export async function storedTurns({ stage }: Run): Promise<Turn[]> {
  const conversation = await readConversation(stage.store, stage.conversationId);
  const seqs = Array.from({ length: conversation?.value.lastSeq ?? 0 }, (_, i) => i + 1);
  return (await readTurns(stage.store, stage.conversationId, seqs)).map(({ value }) => value);
}

/** The turn that has not ended. */
export const openTurn = async (run: Run) =>
  (await storedTurns(run)).findLast(({ state }) => !isTerminal(state));

/** What the models were sent since the journal was cleared, but for those that choose between them. */
export const prompts = ({ fakeGemini }: Run) =>
  fakeGemini
    .journal()
    .filter(({ role }) => role === 'chat')
    .map(({ n }) => sentPrompt(fakeGemini.requestBody(n)));

/** Who has answered, and whether anybody was given signatures back. */
function noteModels(run: Run, turns: readonly Turn[]): void {
  const models = new Set(turns.map(modelThatAnswered));
  models.delete(undefined);
  if (models.size > 1) note(run, 'several models');
  if (turns.some(({ routing }) => routing?.choice === 'strong')) note(run, 'strong');
  if (prompts(run).some((prompt) => signaturesIn(prompt) > 0)) note(run, 'signed');
}

/** What is wrong with what was sent and what is stored. */
export async function problems(run: Run): Promise<string[]> {
  const turns = await storedTurns(run);
  noteModels(run, turns);
  const stored = new Map(turns.map(({ messageId, user }) => [messageId, contentText(user)]));
  return [
    ...run.fakeGemini.journal().flatMap(({ refusal }) => refusal ?? []),
    ...prompts(run).flatMap(unpaired),
    ...[...run.said].flatMap(([id, text]) => (stored.get(id) === text ? [] : [`lost: ${text}`])),
    // Whoever goes on with a turn is the model that made its signatures.
    ...turns.flatMap(({ seq, repairs }) =>
      repairs?.signature ? [`turn ${seq} lost ${repairs.signature} signatures`] : [],
    ),
    ...turns.flatMap(({ seq, state, contents }) =>
      isTerminal(state) && findCalls(contents).some(({ response }) => response === undefined)
        ? [`turn ${seq} (${state}) has open calls`]
        : [],
    ),
  ];
}
