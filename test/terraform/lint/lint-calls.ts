import { codeIn } from './expressions.ts';
import type { Block, Module } from '../read-module.ts';

/** What a call of a module may have beside its variables. */
const metaArguments = new Set([
  'source',
  'version',
  'count',
  'for_each',
  'providers',
  'depends_on',
]);

function lintCall(call: Block, module: Module): string[] {
  const declared = new Set(module.variables.map(({ name }) => name));
  const unknown = Object.keys(call.body).filter(
    (name) => !declared.has(name) && !metaArguments.has(name),
  );
  const missing = module.variables.filter(
    ({ name, body }) => !('default' in body) && !(name in call.body),
  );
  return [
    ...unknown.map((name) => `the module has no variable "${name}"`),
    ...missing.map(({ name }) => `the variable "${name}" must be set`),
  ];
}

/** The calls of the module from a folder that uses it, and what is asked of its outputs there. */
export function lintCalls(caller: Module, module: Module): string[] {
  const outputs = new Set(module.outputs.map(({ name }) => name));
  const asked = Object.values(caller)
    .flat()
    .flatMap((block) =>
      [...codeIn(block.body).matchAll(/\bmodule\.\w+\.(\w+)/g)]
        .map(([, name = '']) => name)
        .filter((name) => !outputs.has(name))
        .map((name) => `${block.file}: ${block.address}: the module has no output "${name}"`),
    );
  const called = caller.modules
    .filter(({ body }) => body['source'] === '../..')
    .flatMap((call) =>
      lintCall(call, module).map((problem) => `${call.file}: ${call.address}: ${problem}`),
    );
  return [...called, ...asked];
}
