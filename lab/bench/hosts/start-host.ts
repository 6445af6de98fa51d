import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { deployedNodeOptions } from '#infra/local/stack/stack-environment.ts';

const leash = new URL('../../../infra/local/processes/exit-with-parent.ts', import.meta.url).href;
const fakeGemini = fileURLToPath(
  new URL('../../../infra/fake-gemini/server/main.ts', import.meta.url),
);
const freeModel = fileURLToPath(new URL('free-model.ts', import.meta.url));

/** Node is told the same by all of them, so that the functions gain nothing by it over what they are measured against. */
const asDeployed = () => ({ ...process.env, NODE_OPTIONS: deployedNodeOptions });

interface Host {
  url: string;
  processId: number;
  close(): Promise<void>;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A process that prints its URL as its first line. Throws Error where it ends before. */
export async function startHost(script: string, args: readonly string[] = []): Promise<Host> {
  const child = spawn(process.execPath, ['--import', leash, script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: asDeployed(),
  });
  if (child.stdout === null) throw new Error(`${script} cannot be heard`);
  for await (const url of createInterface({ input: child.stdout }))
    return { url, processId: child.pid ?? 0, close: () => stop(child) };
  throw new Error(`${script} ended before it was ready`);
}

/** The fake Gemini as a process of its own, so that its work is not counted as ours. */
export const startFakeGeminiHost = (): Promise<Host> => startHost(fakeGemini);

/** A model that answers at once what the fake Gemini has said to the first request. */
export async function startFreeModel(): Promise<Host> {
  const fakeGeminiHost = await startFakeGeminiHost();
  const free = await startHost(freeModel, [fakeGeminiHost.url]);
  const close = async () => void (await Promise.all([free.close(), fakeGeminiHost.close()]));
  return { ...free, close };
}

/** Runs a script to its end and resolves to the one message that it sends. */
export async function runHost(
  script: string,
  environment: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<unknown> {
  const child = fork(script, [...args], {
    env: { ...asDeployed(), ...environment },
    execArgv: ['--import', leash, '--expose-gc'],
  });
  try {
    const message: unknown[] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error(`${script} ended without a result`);
      }),
    ]);
    return message[0];
  } finally {
    await stop(child);
  }
}
