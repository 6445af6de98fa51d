import { randomUUID } from 'node:crypto';
import type { Exchange } from './exchange.ts';
import type { Names } from './match.ts';
import type { Reply, ScriptEvent } from './scenario.ts';
import type { Frame, Service, Turn } from './service.ts';

/* How requests are replied to: as the scenario says, or from what the service has. */

const errorBody = (code: number, reason: string, metadata: Readonly<Record<string, string>>) => {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'recap' };
  return { error: { code, message: `Refused: ${reason}.`, details: [{ ...info, metadata }] } };
};

/** Each byte of what is no ASCII alone. */
const splitCharacters = (text: string): Buffer[] =>
  (text.match(/[\0-\x7f]+|[^\0-\x7f]/gu) ?? []).flatMap((piece) =>
    piece.charCodeAt(0) < 0x80
      ? [Buffer.from(piece)]
      : Array.from(Buffer.from(piece), (byte) => Buffer.of(byte)),
  );

const isTurnStream = /\/turns\/t_(\d+)\/stream$/;

const idOf = (body: unknown): string | undefined => {
  const { id, message } = (body ?? {}) as { id?: string; message?: { id: string } };
  return message?.id ?? id;
};

export type Replies = ReturnType<typeof createReplies>;

export function createReplies(service: Service, names: Names, silenceMs: number) {
  /** Streams of the scenario by their names; that of the list, where a default began it, is `list`. */
  const named = new Map<string, Exchange>();
  const turnOf = new Map<Exchange, { turn: Turn; chat: string }>();
  /** In which life of the client each turn began: it may have been killed before it kept that. */
  const lifeOf = new Map<Turn, number>();
  let life = 0;
  let listEvents = 0;

  async function push(exchange: Exchange, given: readonly ScriptEvent[]): Promise<void> {
    const answer = turnOf.get(exchange);
    for (const event of names.fill(given)) {
      if (typeof event === 'object' && 'raw' in event) {
        await exchange.writeBytes(Buffer.from(String(event.raw)));
      } else if (answer) {
        const isSplit = typeof event === 'object' && 'bytes' in event;
        const said = isSplit ? { text: String(event.bytes) } : event;
        const frames = service.tell(answer.turn, [said], answer.chat);
        for (const frame of frames)
          if (isSplit)
            for (const piece of splitCharacters(frameText(frame))) await exchange.writeBytes(piece);
          else exchange.write(frameText(frame));
        if (frames.at(-1) === 'DONE') exchange.end();
      } else pushToList(exchange, event);
    }
    if (answer) names.bind(`$last${answer.turn.seq}`, String(answer.turn.lastEventId));
  }

  function pushToList(exchange: Exchange, event: ScriptEvent): void {
    listEvents += 1;
    const id = `1764435600123_${listEvents}`;
    names.bind('$lastOfList', id);
    let data: unknown = event;
    if (typeof event === 'object' && 'row' in event) {
      const conversation = service.row(event.row as Record<string, unknown>);
      const seqs = event.erased as number[] | undefined;
      data = {
        type: 'conversation',
        conversation,
        ...(seqs && { erased: { count: seqs.length, seqs } }),
      };
    }
    exchange.write(frameText({ id, data }));
  }

  function turnFor(
    exchange: Exchange,
    chat: string,
    seq: number,
  ): { turn: Turn; seen: (Frame | 'DONE')[] } {
    const { method, path, body } = exchange;
    const known = service.conversation(chat).turns.get(seq);
    if (method === 'GET' && known) return { turn: known, seen: known.frames };
    if (!known || !path.endsWith('/toolResults')) {
      const turn = service.begin(chat, seq, path, body);
      lifeOf.set(turn, lifeOf.get(turn) ?? life);
      return { turn, seen: turn.frames };
    }
    // The request that made the turn go on has what came before.
    service.goOn(known);
    return { turn: known, seen: [] };
  }

  function beginStream(exchange: Exchange, given: Exclude<Reply, string>): void {
    const { headers, turn: begun, events = [], says, silent } = given;
    const { path, query, headers: asked } = exchange;
    const turnId: Record<string, string> = begun === undefined ? {} : { 'x-turn-id': `t_${begun}` };
    exchange.begin({ ...turnId, ...headers }, silent ? undefined : silenceMs / 4);
    const rest: ScriptEvent[] = says === undefined ? [] : [{ text: says }, { finish: 'stop' }];
    const chat = /^\/v1\/conversations\/([^/:]+)/.exec(path)?.[1];
    if (chat === undefined) named.set('list', exchange);
    else {
      const seq = Number(isTurnStream.exec(path)?.[1] ?? begun);
      const { turn, seen } = turnFor(exchange, chat, seq);
      turnOf.set(exchange, { turn, chat });
      const cursor = Number(query.get('startingAfter') ?? asked['last-event-id'] ?? 0);
      for (const frame of seen)
        if (frame === 'DONE' || Number(frame.id) > cursor) exchange.write(frameText(frame));
      if (seen.at(-1) === 'DONE' && events.length === 0) return exchange.end();
    }
    void push(exchange, [...events, ...rest]);
  }

  function uploadView(name: string, { body, headers }: Exchange): object {
    const { mimeType } = body as { mimeType: string };
    const uploadId = names.of(name) ?? randomUUID();
    names.bind(name, uploadId);
    const createTime = service.now().toISOString();
    const expireTime = new Date(service.now().getTime() + 900_000).toISOString();
    const wanted = { 'content-type': mimeType, 'x-goog-if-generation-match': '0' };
    const put = { method: 'PUT', headers: wanted };
    const url = `http://${headers['host']}/files/${uploadId}`;
    return { ...(body as object), createTime, expireTime, uploadId, url, ...put };
  }

  function reply(exchange: Exchange, given: Reply): void {
    if (given === 'reset') return exchange.reset();
    if (given === 'silence') return;
    const { status = 200, headers = {}, reason, metadata = {}, upload, json } = given;
    if (given.events || given.says !== undefined) beginStream(exchange, given);
    else if (reason !== undefined) {
      const challenge = status === 401 && { 'www-authenticate': 'Bearer realm="recap"' };
      exchange.reply(status, { ...challenge, ...headers }, errorBody(status, reason, metadata));
    } else if (upload !== undefined) exchange.reply(201, headers, uploadView(upload, exchange));
    else exchange.reply(status, headers, json === undefined && status === 200 ? {} : json);
  }

  /** From what the service has; false where that has no reply. */
  function replyByDefault(exchange: Exchange): boolean {
    const { method, path, query, body } = exchange;
    const [, chat = '', rest = ''] = /^\/v1\/conversations\/([0-9a-f-]{36})(.*)$/.exec(path) ?? [];
    const { turns } = service.conversation(chat);
    const taken = [...turns.values()].find(({ id }) => id === idOf(body));
    const isEarlier = taken && (lifeOf.get(taken) ?? life) < life;
    const turn = turns.get(Number(isTurnStream.exec(rest)?.[1]));
    if (method === 'POST' && isEarlier) reply(exchange, { turn: taken.seq, events: [] });
    else if (method === 'POST' && rest === ':read')
      reply(exchange, { json: service.row({ id: chat }) });
    else if (method !== 'GET') return false;
    else if (path === '/v1/users/me/events') reply(exchange, { events: [{ type: 'ready' }] });
    else if (path === '/v1/conversations') reply(exchange, { json: service.list(query) });
    else if (chat === '') return false;
    else if (!service.view(chat))
      reply(exchange, { status: 404, reason: 'CONVERSATION_NOT_FOUND' });
    else if (rest === '') reply(exchange, { json: service.view(chat) });
    else if (rest === '/messages') reply(exchange, { json: service.messages(chat, query) });
    else if (turn && !['queued', 'running'].includes(turn.state)) reply(exchange, { status: 204 });
    else return false;
    return true;
  }

  return {
    named,
    push,
    reply,
    replyByDefault,
    killed(): void {
      life += 1;
      named.clear();
    },
  };
}

/** An event as it goes over the wire. */
function frameText(frame: Frame | 'DONE'): string {
  if (frame === 'DONE') return 'data: [DONE]\n\n';
  const id = frame.id === undefined ? '' : `id: ${frame.id}\n`;
  return `${id}data: ${JSON.stringify(frame.data)}\n\n`;
}
