import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProviderName } from './provider-schema.ts';

/** Types of a provider that the `.tf` files below a folder name. */
export function usedTypes(
  folder: string,
  provider: ProviderName,
): { resources: Set<string>; data: Set<string> } {
  const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tf'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const types = (keyword: string) =>
    new Set(
      [...text.matchAll(new RegExp(String.raw`^${keyword} "(${provider}_\w+)"`, 'gm'))].map(
        ([, type = '']) => type,
      ),
    );
  return { resources: types('resource'), data: types('data') };
}
