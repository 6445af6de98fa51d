import type { ScriptEvent, ScriptTurn } from './scenario.ts';

/* What the service keeps in a scenario: it follows from what the scenario streamed, or says with `stored`, `inbox` … */

interface Part extends Record<string, unknown> {
  type: string;
}

export interface Turn {
  seq: number;
  id: string;
  user: Part[];
  model: Part[];
  state: NonNullable<ScriptTurn['state']>;
  /** Of the last event of its stream. */
  lastEventId: number;
  /** All events of its stream. */
  frames: (Frame | 'DONE')[];
  openText: string | undefined;
  replaces?: number | undefined;
  replacedBy?: number | undefined;
  isDeleted?: boolean | undefined;
  rating?: 'up' | 'down' | undefined;
  error?: Record<string, unknown> | undefined;
  openCalls?: Record<string, unknown>[] | undefined;
}

interface Conversation {
  turns: Map<number, Turn>;
  fields: Record<string, unknown> | undefined;
}

/** An event as it goes over the wire; without an id where the service gives none. */
export interface Frame {
  id?: string | number;
  data: unknown;
}

type Row = Record<string, unknown>;

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const textPart = (text: string | undefined): Part[] =>
  text === undefined || text === '' ? [] : [{ type: 'text', text }];

export type Service = ReturnType<typeof createService>;

export function createService(clockHours: number) {
  const conversations = new Map<string, Conversation>();
  let rows: Row[] = [];
  let lastRowEvent = 0;
  const now = () => new Date(Date.now() + clockHours * HOUR_MS);
  const begun = now().getTime() - 60 * MINUTE_MS;
  const timeOf = (seq: number) => new Date(begun + seq * MINUTE_MS).toISOString();

  function conversation(id: string): Conversation {
    const known = conversations.get(id) ?? { turns: new Map(), fields: undefined };
    conversations.set(id, known);
    return known;
  }

  function store(chat: string, turns: readonly ScriptTurn[]): void {
    const each = turns.flatMap((turn) =>
      Array.from({ length: (turn.upTo ?? turn.seq) - turn.seq + 1 }, (_, index) => ({
        ...turn,
        seq: turn.seq + index,
      })),
    );
    for (const { seq, id, user, model, parts, state, deleted, upTo, ...rest } of each) {
      const known = conversation(chat).turns.get(seq);
      conversation(chat).turns.set(seq, {
        seq,
        id: id ?? known?.id ?? `00000000-0000-4000-8000-${String(seq).padStart(12, '0')}`,
        user:
          user === undefined && !deleted
            ? (known?.user ?? textPart(`Question ${seq}`))
            : textPart(user),
        model:
          (parts as Part[] | undefined) ?? textPart(upTo === undefined ? model : `Answer ${seq}`),
        state: state ?? 'done',
        lastEventId: known?.lastEventId ?? 0,
        frames: known?.frames ?? [],
        openText: undefined,
        isDeleted: deleted,
        ...rest,
      });
    }
  }

  function begin(chat: string, seq: number, path: string, body: unknown): Turn {
    const { message, id } = body as { id?: string; message?: { id: string; parts: Part[] } };
    const { turns } = conversation(chat);
    const known = turns.get(seq);
    if (known?.state === 'failed')
      Object.assign(known, { state: 'running', model: [], frames: [], error: undefined });
    if (known) return known;
    const target = /\/messages\/([^/:]+):(edit|regenerate)$/.exec(path);
    const replaced =
      target &&
      [...turns.values()].find((turn) => [turn.id, `m_${turn.seq}`].includes(target[1] ?? ''));
    for (const turn of turns.values())
      if (replaced && turn.seq >= replaced.seq) turn.replacedBy ??= seq;
    const turn: Turn = {
      seq,
      id: message?.id ?? id ?? '',
      user: message?.parts ?? replaced?.user ?? [],
      model: [],
      state: 'running',
      lastEventId: 0,
      frames: [],
      openText: undefined,
      replaces: replaced?.seq,
    };
    turns.set(seq, turn);
    return turn;
  }

  function goOn(turn: Turn): void {
    turn.state = 'running';
    turn.openCalls = undefined;
    turn.frames = turn.frames.filter(
      (frame) => frame !== 'DONE' && (frame.data as { type: string }).type !== 'finish',
    );
  }

  function closeText(turn: Turn): unknown[] {
    const id = turn.openText;
    turn.openText = undefined;
    return id === undefined ? [] : [{ type: 'text-end', id }];
  }

  const finish = (turn: Turn, finishReason: string) => [
    ...closeText(turn),
    { type: 'finish', finishReason, messageMetadata: { generation: 0 } },
    'DONE',
  ];

  /** The chunks of one event; the turn keeps what it says. */
  function chunksOf(turn: Turn, event: ScriptEvent): unknown[] {
    if (event === 'DONE') return ['DONE'];
    if ('text' in event && typeof event.text === 'string') {
      const id = typeof event.part === 'string' ? event.part : 'p1';
      const last = turn.model.at(-1);
      const opens = turn.openText !== id;
      const closed = opens ? closeText(turn) : [];
      if (opens || last?.type !== 'text') turn.model.push({ type: 'text', text: event.text });
      else last['text'] = `${String(last['text'])}${event.text}`;
      turn.openText = id;
      return [
        ...closed,
        ...(opens ? [{ type: 'text-start', id }] : []),
        { type: 'text-delta', id, delta: event.text },
      ];
    }
    if ('finish' in event) {
      turn.state = event.finish === 'tool-calls' ? 'awaiting_tool' : 'done';
      return finish(turn, String(event.finish));
    }
    if ('fail' in event) {
      turn.state = 'failed';
      const message = String(event.fail);
      const retryable = event.retryable === true;
      turn.error = { status: 'UNAVAILABLE', reason: 'MODEL_UNAVAILABLE', message, retryable };
      return [...closeText(turn), { type: 'error', errorText: message }, ...finish(turn, 'error')];
    }
    if ('stopped' in event) {
      turn.state = 'cancelled';
      return [...closeText(turn), { type: 'abort' }, ...finish(turn, 'other')];
    }
    if ('restarted' in event) {
      turn.model = [];
      turn.openText = undefined;
      const data = { kind: 'restarted', dropParts: event.restarted };
      return [{ type: 'data-notice', id: 'restarted-1', data }];
    }
    if ('type' in event) keepCall(turn, event);
    return [event];
  }

  function keepCall(turn: Turn, event: Record<string, unknown>): void {
    const { toolCallId: callId, toolName: name, input: args, providerExecuted } = event;
    if (event['type'] === 'tool-input-available') {
      turn.model.push({
        type: 'functionCall',
        callId,
        name,
        args,
        ...(providerExecuted === true && { providerExecuted }),
      });
      if (providerExecuted !== true)
        turn.openCalls = [...(turn.openCalls ?? []), { callId, name, args, wants: 'output' }];
    }
    if (event['type'] === 'tool-output-available')
      turn.model.push({
        type: 'functionResponse',
        callId,
        name: '',
        response: { output: event['output'] },
      });
  }

  function tell(turn: Turn, events: readonly ScriptEvent[], chat: string): (Frame | 'DONE')[] {
    const start = {
      type: 'start',
      messageId: `m_${turn.seq}`,
      messageMetadata: {
        turnId: `t_${turn.seq}`,
        conversationId: chat,
        generation: 0,
        replayed: false,
      },
    };
    const chunks = events.flatMap((event) => chunksOf(turn, event));
    const all = turn.frames.length === 0 && events.length > 0 ? [start, ...chunks] : chunks;
    const frames = all.map((chunk) =>
      chunk === 'DONE' ? chunk : { id: ++turn.lastEventId, data: chunk },
    );
    turn.frames.push(...frames);
    return frames;
  }

  const outOfContext = ({ isDeleted, replacedBy, state }: Turn, role: string) => {
    if (isDeleted) return { reason: 'deleted' };
    if (replacedBy !== undefined) return { reason: 'replaced', replacedBy: `t_${replacedBy}` };
    if (state === 'done' || (state === 'cancelled' && role === 'user')) return undefined;
    return { reason: state };
  };

  function messagesOf(turn: Turn) {
    const viewOf = (role: 'user' | 'model', id: string, parts: Part[]) => {
      const reason = outOfContext(turn, role);
      return {
        id,
        turnId: `t_${turn.seq}`,
        seq: turn.seq,
        role,
        parts,
        state: turn.state,
        createTime: timeOf(turn.seq),
        inContext: reason === undefined,
        ...(reason && { outOfContext: reason }),
        ...(turn.isDeleted && { deleted: true }),
        ...(turn.replaces !== undefined && { replaces: turn.replaces }),
        ...(turn.error && { error: turn.error }),
        ...(role === 'model' && turn.state === 'awaiting_tool' && { openCalls: turn.openCalls }),
        ...(role === 'model' && turn.state === 'done' && { finishReason: 'stop' }),
        ...(role === 'model' && turn.rating && { feedback: { rating: turn.rating } }),
      };
    };
    const isStored = ['done', 'failed', 'cancelled', 'awaiting_tool'].includes(turn.state);
    const hasAnswer = turn.state === 'done' || (isStored && turn.model.length > 0);
    return [
      viewOf('user', turn.id, turn.user),
      ...(hasAnswer ? [viewOf('model', `m_${turn.seq}`, turn.model)] : []),
    ];
  }

  /** Page tokens are indexes into all messages in their order; the real ones are to be used in the same way. */
  function messages(chat: string, query: URLSearchParams): Record<string, unknown> {
    const turns = [...conversation(chat).turns.values()].toSorted((a, b) => a.seq - b.seq);
    const afterSeq = Number(query.get('afterSeq') ?? 0);
    const isDescending = query.get('order') === 'desc';
    const ascending = turns.filter(({ seq }) => seq > afterSeq).flatMap((turn) => messagesOf(turn));
    const all = isDescending ? ascending.toReversed() : ascending;
    const size = Math.min(Number(query.get('pageSize') ?? 30) || 30, 100);
    const around = query.get('around');
    const [way = '', at = '0'] = (query.get('pageToken') ?? '').split('_');
    let first = Number(at);
    let last = first + size;
    if (way === 'back') [first, last] = [Math.max(0, first - size), first];
    else if (way === '' && around !== null) {
      const middle = all.findIndex(({ seq }) =>
        isDescending ? seq < Number(around) : seq >= Number(around),
      );
      first = Math.max(0, (middle === -1 ? all.length : middle) - Math.floor(size / 2));
      last = first + size;
    }
    return {
      messages: all.slice(first, last),
      ...(way !== 'back' && last < all.length && { nextPageToken: `next_${last}` }),
      ...((way === 'back' || around !== null) &&
        first > 0 &&
        way !== 'next' && { previousPageToken: `back_${first}` }),
    };
  }

  function view(chat: string): Record<string, unknown> | undefined {
    const { turns, fields } = conversation(chat);
    if (turns.size === 0 && fields === undefined) return undefined;
    const context = { tokens: 100, thresholdTokens: 1000, windowTokens: 4000, percent: 2.5 };
    return {
      id: chat,
      archived: false,
      pinned: false,
      metadata: {},
      profile: 'chat',
      model: 'model-a',
      settings: {},
      createTime: timeOf(0),
      updateTime: timeOf(turns.size),
      generation: 0,
      lastSeq: Math.max(0, ...turns.keys()),
      context: { ...context, source: 'reported', generation: 0, compaction: null },
      ...fields,
    };
  }

  function row(fields: Record<string, unknown>): Record<string, unknown> {
    lastRowEvent += 1;
    const activeTime = timeOf(30 + lastRowEvent / 60);
    const state = { archived: false, pinned: false, metadata: {}, state: 'idle' };
    const counts = { lastSeq: 1, readSeq: 1, unreadCount: 0 };
    return { ...state, ...counts, createTime: timeOf(0), activeTime, ...fields };
  }

  function list(query: URLSearchParams): Record<string, unknown> {
    const name = query.get('list') ?? 'active';
    const listOf = (entry: Record<string, unknown>) =>
      entry['deleteTime'] ? 'deleted' : entry['archived'] === true ? 'archived' : 'active';
    const found = rows
      .filter((entry) => listOf(entry) === name)
      .filter(({ pinned }) => query.get('pinned') !== 'true' || pinned === true);
    const first = Number(query.get('pageToken') ?? 0);
    const last = first + (Number(query.get('pageSize') ?? 30) || 30);
    return {
      conversations: found.slice(first, last),
      ...(last < found.length && { nextPageToken: String(last) }),
    };
  }

  return {
    conversations,
    now,
    conversation,
    store,
    begin,
    goOn,
    tell,
    view,
    row,
    messages,
    list,
    /** The newest first. */
    setRows(given: readonly Row[]): void {
      rows = given.toReversed().map(row).toReversed();
    },
  };
}
