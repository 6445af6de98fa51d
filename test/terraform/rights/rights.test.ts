import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { filesBelow, textOf, unique } from '../texts.ts';
import { findCalls } from './find-calls.ts';
import { allows, givenRights, neededPermissions } from './given-rights.ts';
import { type Account, googleCalls } from './google-calls.ts';
import { needsNoRight } from './needs-no-right.ts';
import { roles, servesNoCall } from './roles.ts';

const found = findCalls();
const known = Object.entries(googleCalls).flatMap(([file, { madeBy, calls }]) =>
  Object.entries(calls).map(([call, asked]) => ({ file, madeBy, call, ...asked })),
);
const names = ({ file, call }: { file: string; call: string }) => `${file}: ${call}`;

describe('calls to Google', () => {
  test('of the code are in the table, with the permissions that they need', () => {
    const unknown = found.filter(
      ({ file, call }) =>
        googleCalls[file]?.calls[call] === undefined &&
        !needsNoRight.some(({ where, calls }) => where.test(file) && calls.includes(call)),
    );

    expect(unknown.map(names)).toEqual([]);
  });

  test('of the table are in the code', () => {
    const inCode = found.map(names);
    const noRight = needsNoRight.flatMap(({ where, calls }) =>
      calls
        .filter((call) => !found.some((one) => where.test(one.file) && one.call === call))
        .map((call) => `${where.source}: ${call}`),
    );

    expect(known.map(names).filter((one) => !inCode.includes(one))).toEqual([]);
    expect(noRight).toEqual([]);
  });
});

describe('the account of a call', () => {
  const dependencies = textOf('functions/src/dependencies.ts').split(/^(?:async )?function /m);
  const sources = filesBelow(['functions/src', 'shared'], /\.ts$/).map((file) => ({
    file,
    text: textOf(file),
  }));

  /** For whom the composition root makes an adapter. */
  function accountsMaking(factory: string): Account[] {
    const makes = (name: string) =>
      dependencies.some((part) => part.startsWith(name) && part.includes(`${factory}(`));
    if (makes('createShared')) return ['chat', 'compaction'];
    return [
      ...(makes('createChat') ? (['chat'] as const) : []),
      ...(makes('createCompaction') ? (['compaction'] as const) : []),
    ];
  }

  /** Who uses methods of a port: chat/ and worker/ import nothing of each other, all else belongs to both. */
  function accountsUsing(ports: readonly string[], adapter: string): Account[] {
    const uses = new RegExp(String.raw`\.(?:${ports.join('|')})\(`);
    const files = sources.filter(
      ({ file, text }) => dirname(file) !== dirname(adapter) && uses.test(text),
    );
    const isOnly = (folder: string) =>
      files.every(({ file }) => file.startsWith(`functions/src/${folder}/`));
    if (files.length === 0) return [];
    if (isOnly('chat')) return ['chat'];
    return isOnly('worker') ? ['compaction'] : ['chat', 'compaction'];
  }

  test.each(known)('$file: $call is the one of the function that makes it', (one) => {
    const using = accountsUsing(one.ports, one.file);

    expect(one.accounts).toEqual(
      accountsMaking(one.madeBy).filter((account) => using.includes(account)),
    );
  });
});

describe('rights that the module gives', () => {
  let rights: Awaited<ReturnType<typeof givenRights>>;
  beforeAll(async () => {
    rights = await givenRights();
  });
  const needed = neededPermissions();

  test('allow every call to the account that makes it', () => {
    const missing = needed.filter((one) => !rights.some((right) => allows(right, one)));

    expect(
      missing.map(({ account, permission, needed: call }) => `${account} ${permission}: ${call}`),
    ).toEqual([]);
  });

  test('serve a call of each account that has them, or say whom they serve', () => {
    const idle = rights.flatMap((right) =>
      right.accounts
        .filter((account) => !needed.some((one) => one.account === account && allows(right, one)))
        .map((account) => ({ ...right, account })),
    );
    const ofOthers = rights.filter(({ accounts }) => accounts.length === 0);
    const unexplained = [...idle, ...ofOthers].filter(({ address }) => !(address in servesNoCall));

    expect(unexplained.map(({ address, role }) => `${address}: ${role}`)).toEqual([]);
  });

  test('that serve no call are there, and serve none', () => {
    const serving = rights.filter((right) => needed.some((one) => allows(right, one)));
    const addresses = rights.map(({ address }) => address);

    expect(Object.keys(servesNoCall).filter((one) => !addresses.includes(one))).toEqual([]);
    expect(serving.map(({ address }) => address).filter((one) => one in servesNoCall)).toEqual([]);
  });

  test('are roles that the table knows, and the table knows no other', () => {
    const predefined = rights.map(({ role }) => role).filter((role) => role.startsWith('roles/'));

    expect(Object.keys(roles).toSorted()).toEqual(unique(predefined));
  });

  test('of roles of its own allow nothing but what calls need', () => {
    const own = rights.filter(({ role }) => !role.startsWith('roles/'));
    const idle = own.flatMap(({ role, permissions }) =>
      permissions
        .filter((permission) => !needed.some((one) => one.permission === permission))
        .map((permission) => `${role}: ${permission}`),
    );

    expect(own.length).toBeGreaterThan(0);
    expect(idle).toEqual([]);
  });
});
