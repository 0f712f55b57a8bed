//go:build node

// What a real node needs beyond the API server and its controllers.
package main

import (
	"context"

	"github.com/spf13/cobra"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func init() {
	programs["kube-proxy"] = component(proxy.NewProxyCommand)
	programs["kubelet"] = component(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) })
}
