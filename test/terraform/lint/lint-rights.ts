import { blocksIn, type Block, type Module } from '../read-module.ts';

/** Who is let in without a name, and where alone that is meant. */
const everybody = /\ball(?:Authenticated)?Users\b/;
const OPEN = 'google_cloud_run_v2_service_iam_member.chat_public';

/** What Google binds to nothing smaller than a project, in no condition either. */
const onProjects = new Set([
  'roles/aiplatform.user',
  'roles/firebaseauth.viewer',
  'roles/firebasecloudmessaging.admin',
  'roles/logging.logWriter',
]);

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function lintRight({ address, type, body }: Block): string[] {
  const role = textOf(body['role']) ?? '';
  const isEverybody = everybody.test(`${textOf(body['member'])} ${textOf(body['members'])}`);
  const isUnbound =
    type === 'google_project_iam_member' && blocksIn(body, 'condition').length === 0;
  return [
    ...(/^roles\/(?:owner|editor|viewer)$/.test(role) ? [`${role} is a primitive role`] : []),
    ...(isEverybody && address !== OPEN ? [`only ${OPEN} may name everybody`] : []),
    ...(isUnbound && !onProjects.has(role)
      ? [`${role} on a project needs a condition that names the resource`]
      : []),
    ...(/_iam_(?:policy|binding)$/.test(type)
      ? ['takes rights away that others gave: use …_iam_member']
      : []),
  ];
}

/** Rights: no primitive role, nobody unknown but at chat, nothing on the project that fits on a resource. */
export const lintRights = (module: Module): string[] =>
  module.resources
    .filter(({ type }) => /_iam_(?:member|binding|policy)$/.test(type))
    .flatMap((right) =>
      lintRight(right).map((problem) => `${right.file}: ${right.address}: ${problem}`),
    );
