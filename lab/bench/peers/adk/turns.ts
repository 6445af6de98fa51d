/*
 * ADK: an agent and its runner over the session service that it ships for databases, here a file of libSQL. A turn
 * appends the user's event and the answer's; the runner loads all events of the session first.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { peerModule } from '../peer-host.ts';
import { ANSWER, pastMessages, serveTurns, type PastMessage } from '../turn-peer.ts';

interface Session {
  id: string;
}

interface Place {
  appName: string;
  userId: string;
}

interface SessionService {
  createSession(request: Place): Promise<Session>;
  appendEvent(request: { session: Session; event: object }): Promise<object>;
}

interface Runner {
  runAsync(request: {
    userId: string;
    sessionId: string;
    newMessage: object;
  }): AsyncIterable<{ errorMessage?: string }>;
}

interface Adk {
  BaseLlm: abstract new (options: { model: string }) => object;
  LlmAgent: new (options: object) => object;
  Runner: new (options: object) => Runner;
  createEvent: (event: object) => object;
}

const { BaseLlm, LlmAgent, Runner, createEvent } = await peerModule<Adk>(
  import.meta.resolve('@google/adk'),
);
const { DatabaseSessionService } = await peerModule<{
  DatabaseSessionService: new (options: object) => SessionService;
}>(import.meta.resolve('@google/adk/sessions/database'));
const { LibSqlDriver } = await peerModule<{ LibSqlDriver: unknown }>(
  import.meta.resolve('@mikro-orm/libsql'),
);

class FreeModel extends BaseLlm {
  async *generateContentAsync() {
    yield { content: { role: 'model', parts: [{ text: ANSWER }] }, turnComplete: true };
  }
  connect() {
    return Promise.reject(new Error('nothing is spoken live'));
  }
}

const file = join(tmpdir(), 'sessions.db');
const place = { appName: 'bench', userId: 'u1' };
const sessionService = new DatabaseSessionService({
  driver: LibSqlDriver,
  dbName: file,
});
const agent = new LlmAgent({
  name: 'assistant',
  model: new FreeModel({ model: 'free' }),
  instruction: 'You plan a journey.',
});
const runner = new Runner({ appName: place.appName, agent, sessionService });

const rowSchema = z.object({ event_data: z.string() });
const eventSchema = z.looseObject({ id: z.string(), content: z.object({ role: z.string() }) });

/** One event of each role, stored by the service itself. */
async function storeFirstTurn(session: Session, [user, model]: readonly PastMessage[]) {
  for (const message of [user, model]) {
    if (message === undefined) continue;
    const { role, text } = message;
    const author = role === 'user' ? 'user' : 'assistant';
    const content = { role, parts: [{ text }] };
    const event = createEvent({ invocationId: 'first', author, timestamp: Date.now(), content });
    await sessionService.appendEvent({ session, event });
  }
}

/**
 * Stores the other turns as rows like those of the first, in one transaction: the service takes 20 ms for each event,
 * and more as there are more.
 */
function copyTurns(session: Session, messages: readonly PastMessage[]): void {
  const database = new DatabaseSync(file);
  try {
    const rows = database
      .prepare('SELECT event_data FROM events WHERE session_id = ? ORDER BY timestamp')
      .all(session.id);
    const templates = rows.map((row) =>
      eventSchema.parse(JSON.parse(rowSchema.parse(row).event_data)),
    );
    const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)');
    const startedAt = Date.now() - messages.length * 1_000;
    database.exec('BEGIN');
    for (const [index, { role, text }] of messages.entries()) {
      const template = templates.find(({ content }) => content.role === role);
      const id = `past-${index}`;
      const timestamp = startedAt + index * 500;
      const event = { ...template, id, timestamp, content: { role, parts: [{ text }] } };
      const { appName, userId } = place;
      insert.run(id, appName, userId, session.id, 'past', timestamp, JSON.stringify(event));
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

serveTurns({
  seed: async (turns) => {
    const session = await sessionService.createSession(place);
    const messages = pastMessages(turns);
    await storeFirstTurn(session, messages);
    copyTurns(session, messages.slice(2));
    return { conversationId: session.id };
  },
  turn: async (sessionId, text) => {
    const newMessage = { role: 'user', parts: [{ text }] };
    const events = runner.runAsync({ userId: place.userId, sessionId, newMessage });
    for await (const { errorMessage } of events)
      if (errorMessage !== undefined) throw new Error(errorMessage);
  },
});
