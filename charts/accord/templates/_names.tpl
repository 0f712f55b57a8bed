{{/* Names, labels, and what every Pod of ours has. */}}

{{- define "accord.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The labels that selectors use; they never change. Takes a list: the root, the component. */}}
{{- define "accord.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ default $root.Chart.Name $root.Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 | quote }}
{{- end -}}

{{- define "accord.labels" -}}
{{- $root := index . 0 -}}
{{ include "accord.selector" . }}
app.kubernetes.io/part-of: "accord"
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{/*
Labels and annotations of an object, those of all objects (commonLabels, commonAnnotations) included; ours cannot be replaced.
Takes a list: the root, the component, its annotations, more labels; the last two may be left out.
*/}}
{{- define "accord.metadata" -}}
{{- $values := (index . 0).Values -}}
{{- $annotations := dict -}}
{{- $labels := dict -}}
{{- if gt (len .) 2 }}{{ $annotations = default dict (index . 2) }}{{ end -}}
{{- if gt (len .) 3 }}{{ $labels = default dict (index . 3) }}{{ end -}}
labels:
  {{- merge (include "accord.labels" (list (index . 0) (index . 1)) | fromYaml) $labels $values.commonLabels | toYaml | nindent 2 }}
{{- with merge (dict) $annotations $values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Labels and annotations of Pods. Takes a list: the root, the component, and its values where it has some of its own. */}}
{{- define "accord.podMetadata" -}}
{{- $values := (index . 0).Values -}}
{{- $own := dict -}}
{{- if gt (len .) 2 }}{{ $own = index . 2 }}{{ end -}}
labels:
  {{- merge (include "accord.selector" (list (index . 0) (index . 1)) | fromYaml) (default dict $own.podLabels) $values.commonLabels | toYaml | nindent 2 }}
{{- with merge (dict) (default dict $own.podAnnotations) $values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The ServiceAccount of servers or operators. Takes a list: the root, "server" or "operator". */}}
{{- define "accord.serviceAccount" -}}
{{- $own := (index (index . 0).Values (index . 1)).serviceAccount -}}
{{- default (ternary (printf "%s-%s" (include "accord.fullname" (index . 0)) (index . 1)) "default" $own.create) $own.name -}}
{{- end -}}

{{/* An image of the values: a map with repository, tag, digest. Takes a list: that map, the tag where it has none. */}}
{{- define "accord.image" -}}
{{- $image := index . 0 -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest | quote -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default (index . 1) $image.tag) | quote -}}
{{- end -}}
{{- end -}}

{{- define "accord.ourImage" -}}
image: {{ include "accord.image" (list .Values.image .Chart.AppVersion) }}
imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
{{- end -}}

{{- define "accord.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The "restricted" Pod security standard. The image's own user is 65532; clusters that choose one may. */}}
{{- define "accord.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "accord.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop:
      - ALL
{{- end -}}

{{/* Where Pods go. Takes a list: the root, the component, its values. */}}
{{- define "accord.placement" -}}
{{- $own := index . 2 -}}
{{- with $own.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- if $own.topologySpreadConstraints }}
  {{- toYaml $own.topologySpreadConstraints | nindent 2 }}
{{- else }}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "accord.selector" (list (index $ 0) (index $ 1)) | nindent 8 }}
    matchLabelKeys:
      - pod-template-hash
{{- end }}
{{- end }}
{{- end -}}

{{/* The address that issuers are named by. */}}
{{- define "accord.baseUrl" -}}
{{- if .Values.baseUrl -}}
{{- .Values.baseUrl -}}
{{- else if and .Values.gateway.enabled .Values.gateway.hostnames -}}
{{- printf "https://%s" (first .Values.gateway.hostnames) -}}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts -}}
{{- printf "%s://%s" (ternary "https" "http" (not (empty .Values.ingress.tls))) (first .Values.ingress.hosts) -}}
{{- else -}}
{{- printf "http://%s.%s.svc%s" (include "accord.fullname" .) .Release.Namespace (ternary "" (printf ":%d" (int .Values.service.port)) (eq (int .Values.service.port) 80)) -}}
{{- end -}}
{{- end -}}
