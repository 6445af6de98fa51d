import { decodeInboxEntry } from '#shared/conversation/documents/inbox.ts';
import { compareUpdateTimes } from '#shared/store/update-time.ts';
import { conversationEvent } from '#shared/wire/resources/user-events.ts';
import { caller } from '../actions/actors.ts';
import type { ListedState } from '../listed-states.ts';
import type { RunRecord } from '../run-program.ts';
import { when, type Invariant } from './invariant.ts';

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

function faultsOf(told: readonly Told[], states: readonly ListedState[], ready: Told) {
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
        faultsOf(
          told.filter((each) => idOf(each) === id),
          own.filter(({ conversationId }) => conversationId === id),
          ready,
        ).map((fault) => `of ${id} ${fault}`),
      ),
    ];
  },
};
