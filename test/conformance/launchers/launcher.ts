import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A client in a process or page of its own; its stores outlive it. */
export interface Driver {
  kill(): Promise<void>;
}

export interface Launcher {
  /** How many at a time; they wait more than they compute. */
  width: number;
  launch(control: string): Promise<Driver>;
  stop(): Promise<void>;
}

/** In memory, where it may be: a client may wait for the disk before it sends, and others are busy with it. */
const STORES = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A program of this machine, which is told the address of the judge and a folder for its stores. */
export function programLauncher(
  command: string,
  argumentsOf: (control: string, folder: string) => readonly string[],
): Launcher {
  const folder = mkdtempSync(join(STORES, 'recap-conformance-'));
  const drivers = new Set<Driver>();
  return {
    width: 8,
    async launch(control) {
      const child = spawn(command, argumentsOf(control, folder), {
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      const exited = once(child, 'exit');
      const driver = {
        async kill() {
          drivers.delete(driver);
          child.kill('SIGKILL');
          await exited;
        },
      };
      drivers.add(driver);
      return driver;
    },
    async stop() {
      await Promise.all([...drivers].map((driver) => driver.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
