/**
 * The pages that people see: log-in, sign-up, consent, account, invitations, members. Pure renderers: `xPage(context, props)` gives the
 * headers and the document; rooms have the routes. Every page works without JavaScript, except the one of passkeys.
 */

export { type AccountNotice, type AccountProps, accountNoticeOf, accountPage } from './account.ts';
export { acceptForms, leaveFor, PageError, type Posted, sendErrorPage } from './answers.ts';
export { registerAssets } from './assets.ts';
export { type Brand, brandColours } from './brand.ts';
export { type ConfirmProps, confirmPage } from './confirm.ts';
export { type ConsentProps, consentPage, type ScopeAsked } from './consent.ts';
export { cookieOf, keepCookie } from './cookies.ts';
export { csrfCookie, csrfCookieName, csrfToken, formUid, isOwnForm, newFormUid, type PostedForm } from './csrf.ts';
export {
  type DeviceCodeProps,
  type DeviceConfirmProps,
  type DeviceDoneProps,
  deviceCodePage,
  deviceConfirmPage,
  deviceDonePage,
} from './device.ts';
export { type ErrorPageProps, errorPage } from './error-page.ts';
export type { FieldError, FieldErrors, Form } from './form.ts';
export { formPostPage } from './form-post-page.ts';
export { applicationHeaders, pageHeaders, sharingHeaders } from './headers.ts';
export { isLink } from './html.ts';
export {
  type InvitationDoneProps,
  type InvitationProps,
  invitationDonePage,
  invitationPage,
  openInvitationPage,
} from './invitation.ts';
export { chooseLanguage, type Language, languageOf, languages, textsOf } from './language.ts';
export { isShown, type PageContext, type RenderedPage } from './layout.ts';
export { type FirstTime, type LogInProps, logInPage, type SignUpProps, signUpPage } from './log-in.ts';
export { LOG_IN_COMMAND, type LogInLinkProps, logInLinkPage } from './log-in-link.ts';
export { type LoggedOutProps, type LogoutConfirmProps, loggedOutPage, logoutConfirmPage } from './log-out.ts';
export {
  type CheckMailProps,
  checkMailPage,
  emailVerifiedPage,
  type ResetProps,
  type ResetRequestProps,
  resetDonePage,
  resetPage,
  resetRequestPage,
  verifyEmailPage,
} from './mail-pages.ts';
export { type MemberInvitationProps, memberInvitationLaterPage, memberInvitationPage } from './member-invitation.ts';
export { type NameProps, namePage } from './name-page.ts';
export { type PasskeyProps, passkeyPage } from './passkey-page.ts';
export { type PortalNoticeProps, portalNoticePage } from './portal-notice.ts';
export { redirectPage } from './redirect-page.ts';
export { sendPage } from './send-page.ts';
