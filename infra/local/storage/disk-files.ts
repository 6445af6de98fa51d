import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface FileMetadata {
  contentType: string;
  sizeBytes: number;
  customTime: string | undefined;
}

/** Objects in a folder of their own: names on disk are hashes, so that no name leads out of it. */
export interface DiskFiles {
  folder: string;
  names(prefix: string): string[];
  metadata(name: string): FileMetadata | undefined;
  read(name: string): Promise<Buffer | undefined>;
  write(
    name: string,
    file: { bytes: Buffer; contentType: string; customTime?: string | undefined },
  ): Promise<void>;
  setCustomTime(name: string, customTime: string): void;
  delete(name: string): Promise<boolean>;
  /** Removes the folder. */
  close(): Promise<void>;
}

export async function createDiskFiles(): Promise<DiskFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'recap-uploads-'));
  const known = new Map<string, FileMetadata>();
  const placeOf = (name: string) => join(folder, createHash('sha256').update(name).digest('hex'));
  return {
    folder,
    names: (prefix) => [...known.keys()].filter((name) => name.startsWith(prefix)).toSorted(),
    metadata: (name) => known.get(name),
    read: async (name) => (known.has(name) ? readFile(placeOf(name)) : undefined),
    write: async (name, { bytes, contentType, customTime }) => {
      await writeFile(placeOf(name), bytes);
      known.set(name, { contentType, sizeBytes: bytes.length, customTime });
    },
    setCustomTime: (name, customTime) => {
      const metadata = known.get(name);
      if (metadata) known.set(name, { ...metadata, customTime });
    },
    delete: async (name) => {
      if (!known.delete(name)) return false;
      await rm(placeOf(name), { force: true });
      return true;
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
