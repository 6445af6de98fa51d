import { readFileSync } from 'node:fs';
import type { SourceFile } from '#test/recipes/compile-recipes.ts';

const IMPORT = /^import (type )?(?:(\w+)|\{([^}]*)\}) from '([^']+)';\n/gm;

/** All that the blocks of a page import, once. */
function importsOf(blocks: readonly string[]): string {
  const modules = new Map<string, Set<string>>();
  for (const [, type = '', whole, names = '', module = ''] of blocks.join('\n').matchAll(IMPORT)) {
    const found = modules.get(module) ?? new Set();
    modules.set(module, found);
    if (whole !== undefined) found.add(`default as ${whole}`);
    for (const name of names.split(',')) if (name.trim() !== '') found.add(type + name.trim());
  }
  return [...modules]
    .map(([module, names]) => {
      const needed = [...names].filter(
        (name) => !names.has(name.replace('type ', '')) || !name.startsWith('type '),
      );
      return `import { ${needed.join(', ')} } from '${module}';\n`;
    })
    .join('');
}

/**
 * The code of a page as files: a block that begins with the name of its file is that file, each of the others a module of
 * its own, which has the imports of the whole page.
 */
export function readmeFiles(readme: URL, name: string): SourceFile[] {
  const text = readFileSync(readme, 'utf8');
  const blocks = [...text.matchAll(/^```tsx?\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const imports = importsOf(blocks);
  return blocks.map((block, n) => {
    const named = /^\/\/ (\S+)\n/.exec(block)?.[1];
    if (named !== undefined) return { name: named, text: block };
    return {
      name: `${name}-${n}.tsx`,
      text: `${imports}${block.replaceAll(IMPORT, '')}export {};\n`,
    };
  });
}
