import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ClientSetup, NativeClient, OpenClient, Shown } from '../native-client.ts';

/** What the driver prints: lines of `shown` after each event, then one with a result or an error. */
interface Line {
  id: number;
  shown?: string;
  result?: unknown;
  error?: { kind: string; reason?: string; message?: string };
}

interface Pending {
  show: (text: string) => void;
  settle: (line: Line) => void;
}

interface KotlinRuntime {
  open: OpenClient;
  stop(): Promise<void>;
}

/** The process of the driver: operations go in, what they show and give comes out. */
function startDriver(classPath: string) {
  const child = spawn('java', ['-Xmx256m', '-cp', classPath, 'com.example.recap.DriverKt'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const pending = new Map<number, Pending>();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line: Line = JSON.parse(text);
    const { show, settle } = pending.get(line.id) ?? {};
    if (line.shown !== undefined) show?.(line.shown);
    else settle?.(line);
  });
  let last = 0;
  const perform = <Result>(command: object, show: (text: string) => void = () => undefined) =>
    new Promise<Result>((resolve, reject) => {
      const id = (last += 1);
      const settle = ({ error, result }: Line) => {
        pending.delete(id);
        if (error) reject(new Error(`${error.reason ?? error.kind}: ${error.message}`));
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Driver.kt says what each operation gives
        else resolve(result as Result);
      };
      pending.set(id, { show, settle });
      child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    });
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  return { perform, stop };
}

/** The Kotlin recipe in a JVM, which every client of a test file shares. */
export function startKotlin(classPath: string): KotlinRuntime {
  const { perform, stop } = startDriver(classPath);
  const open = (setup: ClientSetup): NativeClient => {
    const ask = <Result>(operation: string, command: object, show?: (text: string) => void) =>
      perform<Result>({ ...setup, operation, ...command }, show);
    return {
      send: ({ messageId, ...message }, show) =>
        ask<Shown>('send', { ...message, newId: messageId }, show),
      edit: ({ messageId, replaced, ...message }, show) =>
        ask<Shown>('edit', { ...message, messageId: replaced, newId: messageId }, show),
      regenerate: ({ id, ...answer }) => ask<Shown>('regenerate', { ...answer, newId: id }),
      giveResults: ({ answer, ...given }) =>
        ask<Shown>('giveResults', { ...given, turnId: answer.turnId }),
      stop: (turn) => ask('stop', turn),
      rename: ({ title, ...conversation }) => ask('rename', { ...conversation, text: title }),
      rate: ({ rating, ...answer }) => ask('rate', { ...answer, text: rating }),
      listConversations: async () =>
        (await ask<{ conversations: { id: string }[] }>('listConversations', {})).conversations,
      listMessages: async (conversationId) =>
        (
          await ask<{ messages: Awaited<ReturnType<NativeClient['listMessages']>> }>(
            'listMessages',
            { conversationId },
          )
        ).messages,
      upload: ({ bytes, mimeType }) =>
        ask('upload', { bytes: Buffer.from(bytes).toString('base64'), mimeType }),
    };
  };
  return { open, stop };
}
