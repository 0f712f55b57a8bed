import { defineProblems } from '../core/problems.ts';
import { placeOf, TemplateError } from './template-error.ts';

export const mailProblem = defineProblems({
  mail_template_invalid: {
    status: 400,
    title: 'Invalid mail template',
    when: 'A part of the template is not valid Liquid, uses a variable that the mail does not have, or exceeds a limit when it is rendered. errors says where, with line and column.',
    refusal: { reason: 'Invalid' },
  },
  mail_template_not_found: {
    status: 404,
    title: 'Mail template not found',
    when: 'The tenant has no template of this name and language, and none is built in.',
  },
  mail_templates_full: {
    status: 409,
    title: 'Too many mail templates',
    when: 'The tenant has the maximum number of mail templates.',
    refusal: { reason: 'Invalid', dependsOnOthers: true },
  },
  mail_message_not_found: {
    status: 404,
    title: 'Mail not found',
    when: 'The tenant has no mail with this id. Mails are kept for seven days.',
  },
  mail_settings_in_manifest: {
    status: 409,
    title: 'Mail settings are in a manifest',
    when: 'The Tenant of this tenant has spec.mail, which states the sender.',
  },
  mail_suppression_not_found: {
    status: 404,
    title: 'Suppression not found',
    when: 'No address of this tenant is suppressed under this id.',
  },
  mail_unsubscribe_invalid: {
    status: 404,
    title: 'Unknown link',
    when: 'The link to unsubscribe is incomplete, or not one of this tenant.',
  },
});

/** Does work on a template. @param pointer what is wrong when it fails @throws Problem mail_template_invalid */
export async function asTemplateProblem<T>(pointer: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const place = placeOf(pointer, error);
    throw mailProblem('mail_template_invalid', { detail: place.detail, errors: [place] });
  }
}
