import type {
  Chat,
  ChatState,
  ConversationList,
  InputPart,
  ListName,
  Recap,
  RecapOptions,
  RecapStore,
  Row,
  SendOptions,
  Timings,
  Tool,
} from '../src/api.ts';

/* A client of the conformance suite: does what the judge says, and tells it what is shown. clients/conformance/README.md */

/** What is shown of a chat or a list, by whoever shows it. */
export interface Shown<State> {
  state(): State;
  leave(): void;
}

export interface ListState {
  rows: readonly Row[];
  hasMore: boolean;
  isLoaded: boolean;
}

export interface Platform {
  createRecap(options: RecapOptions): Recap;
  openStore(name: string): RecapStore | Promise<RecapStore>;
  /** Where something else than `subscribe` shows them, such as the hooks of React. */
  showChat?(recap: Recap, chat: Chat): Shown<ChatState>;
  showList?(recap: Recap, list: ConversationList, name: ListName): Shown<ListState>;
}

interface Command {
  id: number;
  name: string;
  chat: string;
  value: unknown;
}

type ScriptTool = { returns: unknown } | { throws: string } | { counts: true } | { meets: number };

interface Creation {
  baseUrl: string;
  store: string;
  timings: Timings;
  tools?: Record<string, ScriptTool>;
  appCheck?: string;
  context?: Record<string, unknown>;
}

/** Methods of a chat to which `true` is a value. */
const flags: readonly string[] = ['archive', 'pin'];

interface GivenMessage extends Omit<SendOptions, 'files'> {
  text?: string;
  parts?: InputPart[];
  message?: string;
  files?: { type: string; name: string; base64: string }[];
}

function toolOf(script: ScriptTool): Tool {
  let runs = 0;
  let meet = (): void => undefined;
  const met = new Promise<void>((resolve) => (meet = resolve));
  return async () => {
    if ('throws' in script) throw new Error(script.throws);
    runs += 1;
    if ('returns' in script) return script.returns;
    if ('counts' in script) return { runs };
    if (runs === script.meets) meet();
    await met;
    return { runs: script.meets };
  };
}

const bytesOf = (base64: string) =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/** Parts and options of a message as `send` and `edit` take them. */
function messageOf(value: unknown): [string | InputPart[], SendOptions] {
  if (typeof value === 'string') return [value, {}];
  const { text = '', parts, message: _, files, ...options } = value as GivenMessage;
  const blobs = files?.map(({ type, name, base64 }) => new File([bytesOf(base64)], name, { type }));
  const said = text === '' ? [] : text;
  return [parts ?? said, { ...options, ...(blobs && { files: blobs }) }];
}

const refuse = () => Promise.reject(new Error('the disk is full'));
const refusingStore: RecapStore = { get: refuse, set: refuse, delete: refuse, keys: refuse };

const errorOf = (error: unknown) => {
  const { reason, code, message } = error as { reason?: string; code?: number; message?: string };
  return { reason: reason ?? 'NOT_A_RECAP_ERROR', code, message };
};

/** Does what the judge says until it is killed. */
export async function drive(control: string, platform: Platform): Promise<void> {
  let recap: Recap | undefined;
  const chats = new Map<string, Chat>();
  const shown = new Map<string, Shown<ChatState>>();
  const lists = new Map<ListName, Shown<ListState>>();

  const openStore = (name: string) =>
    name.endsWith('refuses') ? refusingStore : platform.openStore(name);

  const current = (): Recap => {
    if (!recap) throw new Error('there is no client');
    return recap;
  };
  const chatOf = (id: string): Chat => {
    const chat = chats.get(id) ?? current().chat(id);
    chats.set(id, chat);
    return chat;
  };

  async function create({ store, tools = {}, appCheck, context, ...options }: Creation) {
    close();
    recap = platform.createRecap({
      ...options,
      storage: await openStore(store),
      tools: Object.fromEntries(
        Object.entries(tools).map(([name, script]) => [name, toolOf(script)]),
      ),
      getIdToken: async (force) => {
        const reply = await fetch(`${control}/token?force=${force}`);
        if (!reply.ok) throw new Error('no token');
        return ((await reply.json()) as { token: string }).token;
      },
      ...(appCheck !== undefined && { getAppCheckToken: async () => appCheck }),
      ...(context && { clientContext: () => context }),
    });
  }

  function close(): void {
    for (const each of [...shown.values(), ...lists.values()]) each.leave();
    recap?.close();
    recap = undefined;
    for (const known of [chats, shown, lists]) known.clear();
  }

  function showChat(chat: Chat): Shown<ChatState> {
    return (
      platform.showChat?.(current(), chat) ?? {
        state: () => chat.state,
        leave: chat.subscribe(() => undefined),
      }
    );
  }

  const listOf = (name: ListName) =>
    name === 'active' ? current().conversations : current().list(name);

  function showList(name: ListName): Shown<ListState> {
    const list = listOf(name);
    const state = () => ({
      rows: list.rows,
      hasMore: list.hasMore,
      isLoaded: list.isLoaded,
      problem: list.problem,
    });
    return (
      platform.showList?.(current(), list, name) ?? {
        state,
        leave: list.subscribe(() => undefined),
      }
    );
  }

  /** Problems are errors, which JSON leaves out. */
  const plain = (state: object & { problem?: unknown }) => ({
    ...state,
    problem: state.problem && errorOf(state.problem),
  });

  function run({ name, chat: id, value }: Command): unknown {
    const chat = () => chatOf(id);
    const list = value as ListName;
    const given = value as Record<string, never>;
    const commands: Record<string, () => unknown> = {
      create: () => create(value as Creation),
      newChat: () => {
        const made = current().chat();
        chats.set(made.id, made);
        return made.id;
      },
      open: () => void shown.set(id, showChat(chat())),
      leave: () => shown.get(id)?.leave(),
      state: () => plain(shown.get(id)?.state() ?? chat().state),
      send: () => chat().send(...messageOf(value)),
      edit: () => chat().edit(given['message'] ?? '', ...messageOf(value)),
      markRead: () => chat().markRead(value === true ? undefined : (value as number)),
      approve: () => chat().approve(given['call'] ?? '', given['isAllowed'] ?? false),
      rate: () => chat().rate(given['message'] ?? '', given['rating'] ?? 'up'),
      openList: () => void lists.set(list, showList(list)),
      leaveList: () => lists.get(list)?.leave(),
      rows: () => plain(lists.get(list)?.state() ?? listOf(list)),
      loadMore: () => listOf(list).loadMore(),
      search: () => current().search(value as string),
      claim: async () =>
        current().claim(given['guestToken'] ?? '', await openStore(given['guestStore'] ?? '')),
      register: () =>
        current().push.register(given['token'] ?? '', given['platform'] ?? 'web', given['locale']),
      unregister: () => current().push.unregister(),
      setActive: () => current().setActive(value as boolean),
      close,
    };
    const command = commands[name];
    if (command) return command();
    // The others are methods of a chat that take one value, or none.
    const method = chat()[name as 'rename'];
    return method.call(
      chat(),
      ...((value === true && !flags.includes(name) ? [] : [value]) as [string]),
    );
  }

  async function answer(command: Command): Promise<void> {
    let outcome: object;
    try {
      outcome = { result: await run(command) };
    } catch (error) {
      outcome = { error: errorOf(error) };
    }
    await fetch(`${control}/done`, {
      method: 'POST',
      body: JSON.stringify({ id: command.id, ...outcome }),
    });
  }

  for (;;) {
    const reply = await fetch(`${control}/next`);
    if (reply.status === 204) continue;
    const command = (await reply.json()) as Command;
    void answer(command);
  }
}
