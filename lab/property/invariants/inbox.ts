import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import {
  decodeInboxEntry,
  inboxFields,
  unreadCount,
} from '#shared/conversation/documents/inbox.ts';
import { queueSeqs } from '#shared/conversation/start-decision.ts';
import type { StoredDocument, Write } from '#shared/ports/ports.ts';
import { compareUpdateTimes } from '#shared/store/update-time.ts';
import { conversationEvent } from '#shared/wire/resources/user-events.ts';
import { readableFields } from '#test/support/stores/readable-fields.ts';
import { caller } from '../actions/actors.ts';
import type { RunRecord } from '../run-program.ts';
import { marksIn } from '../scripted-models.ts';
import type { ListedState } from '../world-store.ts';
import { type Invariant, when } from './invariant.ts';
import { fieldOf } from './journal-writes.ts';
import { isDeepStrictEqual } from 'node:util';

/** What an entry has beside the fields that follow from the conversation document. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['readSeq', 'unread', 'changeTime']);
/** All that one of a conversation has of which nothing is left. */
const GONE_FIELDS = ['changeTime', 'expireTime', 'list', 'schemaVersion'];

function goneFaults({ fields }: StoredDocument): string[] {
  const names = Object.keys(fields).toSorted();
  return fields['list'] === 'gone' && isDeepStrictEqual(names, GONE_FIELDS)
    ? []
    : [`it is gone, and its entry is ${JSON.stringify(fields['list'])} with ${names.join(' ')}`];
}

/** What an entry of the inbox says otherwise than the conversation document. */
export function entryFaults(
  conversation: StoredDocument | undefined,
  entry: StoredDocument | undefined,
): string[] {
  if (!conversation) return entry ? ['there is an entry, and no conversation'] : [];
  const { value } = decodeConversation(conversation);
  // Nobody lists a fork before it is done.
  if (value.state === 'forking') return entry ? ['a fork that is not done has an entry'] : [];
  if (value.state === 'erasing' || value.state === 'erased') return entry ? goneFaults(entry) : [];
  if (!entry) return [`it is ${value.state}, and has no entry`];
  const wanted = new Map<string, unknown>(
    Object.entries(inboxFields(value)).filter(([, field]) => field !== undefined),
  );
  const names = new Set([...wanted.keys(), ...Object.keys(entry.fields)]);
  return [...names]
    .filter((name) => !OWN_FIELDS.has(name))
    .filter((name) => !isDeepStrictEqual(entry.fields[name], wanted.get(name)))
    .map(
      (name) =>
        `its entry has ${name} ${JSON.stringify(entry.fields[name])}, the conversation document ${JSON.stringify(wanted.get(name))}`,
    );
}

/**
 * A list is one query over entries, so nobody reads the conversation document to correct one. Each batch that changes
 * what a list shows writes both: after no commit may they differ.
 */
export const listedEntries: Invariant = {
  name: 'I12 after every commit the entry in the inbox says what the conversation document says',
  violations: ({ journal }) =>
    journal.listed.flatMap(({ afterCommits, conversationId, conversation, entry }) =>
      entryFaults(conversation, entry).map(
        (fault) => `after commit ${afterCommits} of ${conversationId} ${fault}`,
      ),
    ),
};

/** The turns up to this one have ended. */
function endedSeq(document: StoredDocument): number {
  const { value } = decodeConversation(document);
  const unfinished = [...(value.open ? [value.open.seq] : []), ...queueSeqs(value)];
  return Math.min(value.lastSeq + 1, ...unfinished) - 1;
}

function markFaults(states: readonly ListedState[]): string[] {
  let readBefore = 0;
  // A turn that failed may be tried again: it has ended all the same.
  let ended = 0;
  let answeredBefore = 0;
  return states.flatMap(({ afterCommits, conversation, entry }) => {
    if (!conversation || !entry || entry.fields['list'] === 'gone') return [];
    const read = decodeInboxEntry(entry);
    const { readSeq, unread, answered } = read;
    ended = Math.max(ended, endedSeq(conversation));
    const before = readBefore;
    readBefore = readSeq;
    const answeredSeq = answered?.seq ?? 0;
    const newest = answeredBefore;
    answeredBefore = answeredSeq;
    return [
      ...when(readSeq < before, `readSeq falls from ${before} to ${readSeq}`),
      ...when(readSeq > ended, `readSeq is ${readSeq}, and turns have ended up to ${ended}`),
      ...when(answeredSeq < newest, `the last answer is ${answeredSeq}, and ${newest} came before`),
      ...when(
        !unread && answeredSeq > readSeq,
        `answer ${answeredSeq} is not unread, and read up to ${readSeq}`,
      ),
      ...when(
        unread !== unreadCount(read) > 0,
        `it is ${unread ? '' : 'not '}unread, and counts ${unreadCount(read)} unread answers`,
      ),
    ].map((fault) => `after commit ${afterCommits} ${fault}`);
  });
}

/**
 * Devices say in any order, late and more than once what they have shown; an answer that nobody has seen yet must never
 * count as read.
 */
export const readMarks: Invariant = {
  name: 'I12 what was read and answered never becomes fewer, and nothing is read that has not ended',
  violations: ({ journal: { listed } }) =>
    [...new Set(listed.map(({ conversationId }) => conversationId))].flatMap((id) =>
      markFaults(listed.filter(({ conversationId }) => conversationId === id)),
    ),
};

const TURN = /^conversations\/([^/]+)\/turns\/\d+$/;

/** What the turns of each conversation say, by the marks in them, as writes are applied. */
function createMarks() {
  const marks = new Map<string, Map<string, string[]>>();
  return {
    apply: (writes: readonly Write[]) => {
      for (const write of writes) {
        const [, conversationId] = TURN.exec(write.path) ?? [];
        if (conversationId === undefined) continue;
        const turns = marks.get(conversationId) ?? new Map<string, string[]>();
        marks.set(conversationId, turns);
        for (const name of ['userJson', 'answerJson']) {
          const json = fieldOf(write, name);
          if (typeof json === 'string') turns.set(`${write.path} ${name}`, marksIn(json));
        }
      }
    },
    of: (conversationId: string) =>
      new Set([...(marks.get(conversationId)?.values() ?? [])].flat()),
  };
}

/**
 * An entry holds how the last question and answer begin. What is erased of them goes in the batch that erases it, and no
 * later batch brings it back: an entry only tells what a turn of its conversation says at that moment.
 */
export const erasedPreviews: Invariant = {
  name: 'I12 no preview holds a word of a message that was erased',
  violations({ initial, journal: { commits, listed } }) {
    const marks = createMarks();
    marks.apply(initial.writes);
    return commits.flatMap(({ writes }, index) => {
      marks.apply(writes);
      return listed
        .filter(({ afterCommits }) => afterCommits === index + 1)
        .flatMap(({ conversationId, entry }) => {
          const said = marks.of(conversationId);
          return marksIn(readableFields(entry?.fields ?? {}))
            .filter((mark) => !said.has(mark))
            .map(
              (mark) => `after commit ${index + 1} the entry of ${conversationId} tells ${mark}`,
            );
        });
    });
  },
};

type Told = RunRecord['journal']['told'][number];

/** Between the note of the time and the commit; what is committed later may be missed by who was away. */
const NOTED_MAX_MS = 10 * 60_000;

const idOf = ({ event }: Told): string | undefined => {
  if (event.type === 'gone') return event.conversationId;
  return event.type === 'conversation' ? event.conversation.id : undefined;
};

/** When the state that an event tells of was committed. */
const updateTimeOf = ({ id }: Told): string => id.split('_')[1] ?? '';

/** An event is as an entry of this user was, word for word. */
function strangeEvent(told: Told, states: readonly ListedState[]): string[] {
  const updateTime = updateTimeOf(told);
  const entry = states.find((state) => state.entry?.updateTime === updateTime)?.entry;
  const text = JSON.stringify(told.event);
  if (!entry) return [`it was told what no entry has been: ${text}`];
  const wanted = JSON.stringify(conversationEvent(idOf(told) ?? '', decodeInboxEntry(entry)));
  return when(text !== wanted, `it was told ${text}, and the entry was ${wanted}`);
}

function toldFaults(told: readonly Told[], states: readonly ListedState[], ready: Told) {
  const times = told.map(updateTimeOf);
  // A commit that changes nothing of an entry leaves its update time.
  const last = states.find(({ entry }) => entry?.updateTime === states.at(-1)?.entry?.updateTime);
  const isNotedLate = states.some(({ atMs, entry }) => {
    const { changeTime } = entry?.fields ?? {};
    return changeTime instanceof Date && atMs - changeTime.getTime() > NOTED_MAX_MS;
  });
  const isMissed =
    last?.entry !== undefined &&
    last.afterCommits > ready.afterCommits &&
    compareUpdateTimes(last.entry.updateTime, updateTimeOf(ready)) > 0 &&
    !isNotedLate &&
    last.entry.updateTime !== times.at(-1);
  return [
    ...told.flatMap((each) => strangeEvent(each, states)),
    ...when(
      times.some(
        (time, index) => index > 0 && compareUpdateTimes(times[index - 1] ?? '', time) > 0,
      ),
      `it was told of the commits ${times.join(', ')}`,
    ),
    ...when(
      isMissed,
      `the last commit is ${last?.entry?.updateTime}, and the last that was told ${times.at(-1)}`,
    ),
  ];
}

/**
 * A device lists its user's conversations once and then keeps the list by what it is told, however often it is cut off.
 * From its first `ready` on it misses no last state of an entry, hears of the states of one in the order of their
 * commits, and hears nothing of another user.
 */
export const toldEntries: Invariant = {
  name: 'I12 a device that comes back with its cursor ends with the entries that are stored',
  violations({ journal: { told, listed } }) {
    const ready = told.find(({ event }) => event.type === 'ready');
    if (!ready) return when(told.length > 0, 'a device listened, and was never ready');
    const own = listed.filter(({ uid, entry }) => uid === caller.uid && entry !== undefined);
    const ids = new Set([...own.map(({ conversationId }) => conversationId), ...told.map(idOf)]);
    ids.delete(undefined);
    return [
      ...when(
        told.some(({ event }) => event.type === 'reset'),
        'it was told to begin anew',
      ),
      ...[...ids].flatMap((id) =>
        toldFaults(
          told.filter((each) => idOf(each) === id),
          own.filter(({ conversationId }) => conversationId === id),
          ready,
        ).map((fault) => `of ${id} ${fault}`),
      ),
    ];
  },
};
