import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A process of functions that can be held at a point. */
interface HeldProcess {
  child: ChildProcess;
  /** SIGKILL; resolves when the process is gone. */
  kill: () => Promise<void>;
}

interface HeldOptions {
  arguments: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** Told of each point at which it is held. */
  onReached: (point: string) => void;
}

/** Starts a script that tells when it serves, and where it is held. Throws Error when it ends before it serves. */
export async function forkHeld(script: string, options: HeldOptions): Promise<HeldProcess> {
  const child = fork(script, options.arguments, {
    env: options.environment,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ready = Promise.withResolvers<void>();
  child.on('message', (message: object) =>
    'reached' in message ? options.onReached(String(message.reached)) : ready.resolve(),
  );
  child.on('exit', () => ready.reject(new Error('a process ended before it was ready')));
  await ready.promise;
  return {
    child,
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
