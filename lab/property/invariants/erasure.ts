import { contentText } from '#shared/models/content.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Write } from '#shared/ports/ports.ts';
import { FORK } from '../initial-state.ts';
import type { RunRecord } from '../run-program.ts';
import { marksIn, PIN, topicMarksIn } from '../scripted-models.ts';
import { when, type Invariant, storedFaults } from './invariant.ts';
import { fieldOf, isOpening, isTurn } from './journal-writes.ts';

/** What an erased conversation leaves: one document that says nothing. */
function leftOfAll({ final, remains = [] }: RunRecord): string[] {
  const { conversation } = final;
  if (conversation?.state === 'erasing')
    return ['the conversation is marked, and not erased to the end'];
  if (conversation?.state !== 'erased') return [];
  const text = JSON.stringify(conversation);
  return [
    ...remains.map((document) => `${document.split(' ', 1)[0]} is left`),
    ...when(marksIn(text).length > 0 || text.includes(PIN), 'the tombstone tells what was said'),
    ...when(conversation.ownerUid !== '', 'the tombstone tells whose it was'),
  ];
}

/**
 * Marks that nobody is to read any more: those of erased turns that no other turn bears. An answer that
 * was made anew repeats the question of the one that it replaced.
 */
function forgottenMarks({ initial, journal, final }: RunRecord): Set<string> {
  const written = [...initial.writes, ...journal.commits.flatMap(({ writes }) => writes)]
    .filter(isTurn)
    .flatMap((write) => [fieldOf(write, 'userJson'), fieldOf(write, 'answerJson')])
    .flatMap((json) => (typeof json === 'string' ? marksIn(json) : []));
  const kept = final.turns.flatMap(({ user, contents }) =>
    [user, ...contents].flatMap((content) => marksIn(contentText(content))),
  );
  return new Set(written.filter((mark) => !kept.includes(mark)));
}

const isTurnErasure = (write: Write) => isTurn(write) && fieldOf(write, 'eraseTime') !== undefined;

/** Calls of turns that began when all of what is forgotten had been erased. */
function laterCalls({ journal }: RunRecord) {
  const { commits, chatCalls } = journal;
  const lastErasure = commits.findLastIndex(({ writes }) => writes.some(isTurnErasure));
  return chatCalls.filter(({ promptId, flow, afterCommits }) => {
    const seq = Number(promptId.slice(2));
    const begin = commits
      .slice(0, afterCommits)
      // An attempt that stood still may call the model after another has taken the turn over.
      .findLastIndex(
        (commit) => commit.flow === flow && commit.writes.some((write) => isOpening(write, seq)),
      );
    return begin > lastErasure;
  });
}

/** A fork that became whole after the last erasure in the conversation that it is a copy of. */
function isLaterFork({ journal }: RunRecord): boolean {
  const { commits } = journal;
  const isWhole = (write: Write) =>
    write.path === conversationPath(FORK) && fieldOf(write, 'state') === 'live';
  const erasure = commits.findLastIndex(({ writes }) => writes.some(isTurnErasure));
  return commits.findLastIndex(({ writes }) => writes.some(isWhole)) > erasure;
}

function leftOfTurns(record: RunRecord): string[] {
  const { final, remains = [], shown, fork } = record;
  if (final.conversation?.state === 'erased' || final.conversation?.state === 'erasing') return [];
  if (!final.turns.some(({ eraseTime }) => eraseTime !== undefined)) return [];
  const forgotten = forgottenMarks(record);
  const tells = (where: string, text: string) =>
    [...marksIn(text), ...topicMarksIn(text)].flatMap((mark) =>
      forgotten.has(mark) ? [`${where} tells ${mark}`] : [],
    );
  return [
    ...tells('the head', JSON.stringify(final.conversation)),
    ...remains.flatMap((document) => tells(document.split(' ', 1)[0] ?? '', document)),
    ...shown.flatMap(({ server, contents }) => tells(server, JSON.stringify(contents))),
    ...laterCalls(record).flatMap(({ promptId, contents }) =>
      tells(`the prompt of ${promptId}`, JSON.stringify(contents)),
    ),
    ...when(
      final.conversation?.pendingErasure !== undefined && final.conversation.state === 'live',
      'an erasure is not finished',
    ),
    ...(fork && isLaterFork(record) ? tells('the fork', JSON.stringify(fork)) : []),
  ];
}

export const erasures: Invariant = {
  name: 'I7 what was erased is nowhere, and an erased conversation is a tombstone',
  violations: (record) =>
    // Without erasure there is nothing to look for.
    (record.remains ?? []).length === 0 && record.final.conversation?.state !== 'erased'
      ? []
      : [...leftOfAll(record), ...leftOfTurns(record), ...storedFaults(record.final, 'I7')],
};
