import { decodeCursor, userEvents } from '#functions/chat/inbox/user-events.ts';
import type { Interleaving } from '#lab/property/interleaving.ts';
import type { World } from '#lab/property/world.ts';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import { caller } from './actors.ts';

/**
 * A device that follows its user's inbox: hangs up after so many changes, and when its server dies, and each time comes
 * back at the other server with the cursor of the last event that it has received.
 */
export function startListening(world: World, interleaving: Interleaving, hangsUpAfter: number) {
  const { journal } = world;
  const lane = interleaving.lane('a device that listens');
  let cursor: string | undefined;
  const over = new AbortController();
  let leaving = new AbortController();

  /** Until `isLast` says so, or the stream ends. */
  async function listen(name: string, isLast: (event: UserEvent) => boolean): Promise<void> {
    const server = world.server(name);
    const dependencies = world.chat(server, { lane, process: server.process });
    const place = decodeCursor(cursor);
    const { signal: until } = leaving;
    for await (const { id, event } of userEvents(dependencies, {
      uid: caller.uid,
      cursor: place,
      once: false,
      until,
    })) {
      cursor = id;
      interleaving.note('a device that listens', `is told ${JSON.stringify(event)}, ${id}`);
      journal.told.push({ afterCommits: journal.commits.length, id, event });
      if (isLast(event)) return;
    }
  }

  async function listenAgain(): Promise<void> {
    for (let connection = 0; !over.signal.aborted; connection++) {
      const name = `chat-${connection % 2}`;
      await interleaving.step({ lane, process: undefined }, () => `listens on ${name}`);
      leaving = new AbortController();
      let changes = 0;
      const isLast = ({ type }: UserEvent) => {
        if (type === 'conversation' || type === 'gone') changes++;
        return changes >= hangsUpAfter;
      };
      const { crashed } = world.server(name).process;
      await Promise.race([listen(name, isLast), crashed]);
    }
  }

  const noteFailure = (error: unknown) =>
    // No refusal is clear: it asks for nothing but what it may.
    void journal.errors.push({ action: 'listening', error: new Error(String(error)) });
  const ended = listenAgain().catch(noteFailure);

  return {
    /** Hangs up, and comes back once more, until it has been told everything. */
    catchUp: async (): Promise<void> => {
      over.abort();
      leaving.abort();
      await ended;
      leaving = new AbortController();
      await listen('chat-rest', ({ type }) => type === 'ready' || type === 'reset');
    },
  };
}
